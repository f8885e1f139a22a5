// DLPack's C interface of a type, looked up once per type.
#pragma once

#include <nanobind/nanobind.h>

#include "python/bindings/dlpack.h"

namespace heed::python {

/// Null if the type has none.
const dlpack::ExchangeApi* exchange_api(nanobind::handle type);

}  // namespace heed::python
