// pictures as SVG.
#include "python/bindings/bind.h"

namespace heed::python {

void bind_pictures(nanobind::module_&) {}

}  // namespace heed::python
