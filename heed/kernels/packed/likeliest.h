// The output layer of a model and the choice of its most probable outputs in one pass: scores are
// computed in parts that stay in cache, and never stored as a whole.
#pragma once

#include <cstdint>

#include "heed/kernels/likeliest.h"
#include "heed/kernels/packed/product.h"

namespace heed::kernels {

struct PackedLikeliest {
  PackedProduct scores = {};  // y is not used
  std::int64_t k;
  const std::int64_t* banned_starts;  // [rows + 1]: start of the banned tokens of each row
  const std::int32_t* banned;         // ascending within a row
  bool renormalised = false;          // whether banned tokens are left out of the normaliser
  LogNormaliser<float>* normalisers;  // [rows]
  std::int32_t* tokens;               // [rows, k]
  float* logits;                      // [rows, k]: the scores of these tokens
};

/// As likeliest(). The results of a row do not depend on other rows.
void packed_likeliest(const PackedLikeliest& call);

}  // namespace heed::kernels
