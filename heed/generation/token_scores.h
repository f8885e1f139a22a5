// The scores (logits) of the next token of each sequence. They may be given, or be states that an
// output layer turns into scores: then a search that needs only the best tokens never has the
// scores of a whole vocabulary in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/kernels/likeliest.h"
#include "heed/models/output_layer.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Tokens that may not be chosen: those of row i are from starts[i] to starts[i + 1], ascending.
struct BannedTokens {
  std::vector<std::int64_t> starts = {0};
  std::vector<std::int32_t> tokens = {};
  bool renormalised = false;  // whether the probabilities of the others add up to 1

  std::span<const std::int32_t> of(std::int64_t row) const;
};

/// The k most probable tokens of each row (kernels/likeliest.h).
struct BestTokens {
  std::int64_t k = 0;
  std::vector<std::int32_t> tokens = {};  // [rows, k]
  std::vector<float> logits = {};         // [rows, k]
  std::vector<kernels::LogNormaliser<float>> normalisers = {};

  /// The tokens of a row, most probable first.
  std::span<const std::int32_t> of(std::int64_t row) const;
};

class TokenScores {
 public:
  TokenScores() = default;
  /// Scores [rows, V] of f32.
  TokenScores(const Tensor& scores);  // NOLINT(google-explicit-constructor): what most models give
  /// Scores of states [rows, E]; the layer must outlive them.
  TokenScores(Tensor states, const OutputLayer& output);

  std::int64_t rows() const;
  std::int64_t vocabulary() const;
  /// All scores [rows, V], computed when they are first needed.
  const Tensor& all();
  /// The scores of one row, [V].
  std::span<const float> row(std::int64_t row);
  /// The score of one token of a row.
  float of(std::int64_t row, std::int32_t token);
  /// Finds the best tokens, without computing all() if possible. If probabilities are renormalised,
  /// the scores of banned tokens become -inf.
  void find_best(std::int64_t k, const BannedTokens& banned, BestTokens& best);

 private:
  void hide(const BannedTokens& banned);

  Tensor scores_;  // [rows, V], or undefined
  Tensor states_;  // [rows, E], or undefined
  const OutputLayer* output_ = nullptr;
};

}  // namespace heed
