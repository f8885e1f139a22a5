// heed.train.
#include "python/bindings/bind.h"

namespace heed::python {

void bind_training(nanobind::module_&) {}

}  // namespace heed::python
