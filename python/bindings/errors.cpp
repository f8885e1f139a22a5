// heed's errors as Python's: a mistake of the caller's is heed.Error, which is a ValueError; a
// mistake of heed's own is a RuntimeError, as nanobind makes of any other exception.
#include "heed/base/error.h"

#include "python/bindings/bind.h"

namespace heed::python {

void bind_errors(nanobind::module_& m) {
  nanobind::exception<Error>(m, "Error", PyExc_ValueError).doc() =
      "What was given does not fit: the message says what, where and what would.";
}

}  // namespace heed::python
