// DLPack's C interface of a type, looked up once per type.
#pragma once

#include <nanobind/nanobind.h>

#include "python/bindings/dlpack.h"

namespace heed::python {

/// Whether it is PyTorch's CausalBias: a tensor whose memory is never written.
bool is_causal_bias(nanobind::handle type);

/// Null if the type has none.
const dlpack::ExchangeApi* exchange_api(nanobind::handle type);

}  // namespace heed::python
