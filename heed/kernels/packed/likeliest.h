// The output layer of a model and the choice of its most probable outputs in one pass: scores are
// computed in parts that stay in cache, and never stored as a whole.
#pragma once

#include <cstdint>

#include "heed/kernels/likeliest.h"
#include "heed/kernels/packed/product.h"

namespace heed::kernels {

struct PackedLikeliest {
  PackedProduct scores = {};  // y is not used
  /// int8: those of the weight, [out, in], or null. If given, the best outputs and some more are
  /// scored again with them (remainder.h), and the best of these are chosen.
  const std::int8_t* remainders = nullptr;
  std::int64_t k;
  const std::int64_t* banned_starts;  // [rows + 1]: start of the banned tokens of each row
  const std::int32_t* banned;         // ascending within a row
  bool renormalised = false;          // whether banned tokens are left out of the normaliser
  LogNormaliser<float>* normalisers;  // [rows]
  std::int32_t* tokens;               // [rows, k]
  float* logits;                      // [rows, k]: the scores of these tokens
};

/// How many outputs more than k are scored again if there are remainders.
inline constexpr std::int64_t kRefinedOutputs = 8;

/// As likeliest(). The results of a row do not depend on other rows.
void packed_likeliest(const PackedLikeliest& call);

}  // namespace heed::kernels
