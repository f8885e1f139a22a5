// How many pairs of a query and a key a mask leaves visible: what attention's cost is counted by.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/program.h"

namespace heed {

/// Over all batches and heads; `see` may be null: every key.
std::int64_t visible_pairs(const kernels::AttentionShape& shape, const kernels::Visibility* mask);

}  // namespace heed
