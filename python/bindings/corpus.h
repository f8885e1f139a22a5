// heed's own corpus of English and Chinese, for experiments.
#pragma once

#include "python/bindings/array.h"

namespace heed::python {

void bind_corpus(nb::module_& m);

}  // namespace heed::python
