// heed.list and heed.compare.
#include "python/bindings/bind.h"

namespace heed::python {

void bind_registry(nanobind::module_&) {}

}  // namespace heed::python
