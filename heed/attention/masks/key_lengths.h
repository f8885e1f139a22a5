// Padding: of each sequence in the batch only the first keys are real.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/attention/mask.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Queries of sequence b see keys [0, lengths[b]).
Mask key_lengths(std::vector<std::int64_t> lengths);
/// The same from a tensor [B], i32 or i64.
Mask key_lengths(const Tensor& lengths);

}  // namespace heed
