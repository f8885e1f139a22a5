// The number of visible pairs of a query and a key, by which the cost of attention is counted.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/program.h"

namespace heed {

/// Over all batches and heads; a null `mask` hides nothing.
std::int64_t visible_pairs(const kernels::AttentionShape& shape, const kernels::Visibility* mask);

}  // namespace heed
