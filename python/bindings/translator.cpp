// heed.Translator.
#include "python/bindings/bind.h"

namespace heed::python {

void bind_translator(nanobind::module_&) {}

}  // namespace heed::python
