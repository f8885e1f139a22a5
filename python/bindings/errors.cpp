// heed's errors in Python: an error of the caller is heed.Error, which is a ValueError; an error in
// heed itself is a RuntimeError, as nanobind makes of any other exception.
#include "heed/base/error.h"

#include "python/bindings/bind.h"

namespace heed::python {

void bind_errors(nanobind::module_& m) {
  nanobind::exception<Error>(m, "Error", PyExc_ValueError).doc() =
      "An argument is invalid; the message says which one, where, and what is expected.";
}

}  // namespace heed::python
