// Pads sentences of different lengths into one tensor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

/// Default number of tokens of a batch, including padding, in training and inference.
inline constexpr std::int64_t kBatchTokens = 4096;

/// Sentences padded to the longest one, and their lengths.
struct PaddedRows {
  Tensor tokens;           ///< i64 [B, T]
  Tensor lengths;          ///< i64 [B]
  std::int64_t total = 0;  ///< Tokens without padding.
};

/// Makes one row per sentence and fills the rest with the padding token.
PaddedRows pad_rows(std::span<const std::span<const std::int32_t>> rows, std::int32_t padding);

}  // namespace heed
