// heed's errors in Python: an error of the caller is heed.Error, which is a ValueError, and so is
// an error of the file system. Too little memory is a MemoryError, and an error in heed itself is a
// RuntimeError, as nanobind makes of any other exception.
#include "heed/base/error.h"

#include <exception>
#include <filesystem>

#include "heed/io/paths.h"
#include "python/bindings/bind.h"

namespace heed::python {

void bind_errors(nanobind::module_& m) {
  nanobind::exception<Error>(m, "Error", PyExc_ValueError).doc() =
      "An argument is invalid; the message says which one, where, and what is expected.";
  nanobind::register_exception_translator(
      [](const std::exception_ptr& thrown, void* error) {
        try {
          std::rethrow_exception(thrown);
        } catch (const std::filesystem::filesystem_error& e) {
          PyErr_SetString(static_cast<PyObject*>(error), io::message_of(e).c_str());
        }
      },
      nanobind::object(m.attr("Error")).release().ptr());
}

}  // namespace heed::python
