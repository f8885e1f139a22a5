// Rows of different lengths as one tensor: what a batch of sentences is made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

/// Tokens of a batch unless said otherwise, padding included; of training and of use.
inline constexpr std::int64_t kBatchTokens = 4096;

/// Sentences padded to the longest of them, and how long each was.
struct PaddedRows {
  Tensor tokens;           ///< i64 [B, T]
  Tensor lengths;          ///< i64 [B]
  std::int64_t total = 0;  ///< Tokens without padding.
};

/// Puts sentences below each other and fills up with the padding token.
PaddedRows pad_rows(std::span<const std::span<const std::int32_t>> rows, std::int32_t padding);

}  // namespace heed
