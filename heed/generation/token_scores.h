// The scores (logits) of the next token of each sequence. They may be given, or be states that an
// output layer turns into scores: then a search that needs only the best tokens never has the
// scores of a whole vocabulary in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/generation/candidates.h"
#include "heed/kernels/likeliest.h"
#include "heed/models/output_layer.h"
#include "heed/tensor/tensor.h"
#include "heed/text/copy_table.h"

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

/// What the next tokens are copied from, in models that copy (models/decoding.h): P(w) = g
/// P_vocabulary(w) + (1 - g) sum of the weights of the positions with word w.
struct CopyScores {
  Tensor gate;                                              ///< [rows]: z; g is sigmoid(z).
  Tensor weights;                                           ///< [rows, S].
  std::vector<std::shared_ptr<const CopiedWords>> sources;  ///< Of each row.
};

class TokenScores {
 public:
  TokenScores() = default;
  /// Scores [rows, V] of f32.
  TokenScores(const Tensor& scores);  // NOLINT(google-explicit-constructor): what most models give
  /// Scores of states [rows, E]; the layer must outlive them.
  TokenScores(Tensor states, const OutputLayer& output);
  /// The same for a model that copies: scores are log-probabilities of V tokens and of the words of
  /// the sources. Rows have the words of the row that has most.
  TokenScores(Tensor states, const OutputLayer& output, CopyScores copies);

  std::int64_t rows() const;
  std::int64_t vocabulary() const;
  /// The scores of some rows, in this order.
  TokenScores select(std::span<const std::int64_t> rows) const;
  /// The same scores, but those of other tokens than the candidates are -inf. With an output layer,
  /// the candidates must have one too.
  TokenScores within(std::shared_ptr<const Candidates> candidates) const;
  /// Computes all scores now, for row() and find_best().
  void compute();
  /// All scores [rows, V]: those that were computed, or computed for this call.
  Tensor all() const;
  /// The scores of one row, [V], after compute().
  std::span<const float> row(std::int64_t row) const;
  /// The score of one token of a row.
  float of(std::int64_t row, std::int32_t token) const;
  /// Finds the best tokens, without computing all scores unless compute() has. If probabilities are
  /// renormalised, the computed scores of banned tokens become -inf.
  void find_best(std::int64_t k, const BannedTokens& banned, BestTokens& best);

 private:
  void hide(const BannedTokens& banned);
  /// The scores [rows, V] of the candidates, and -inf for other tokens.
  Tensor scattered() const;
  /// The log-probabilities [rows, V + words] of a mixture.
  Tensor mixed() const;
  void find_best_candidates(std::int64_t k, const BannedTokens& banned, BestTokens& best) const;

  Tensor scores_;  // [rows, V], or undefined
  Tensor states_;  // [rows, E], or undefined
  const OutputLayer* output_ = nullptr;
  std::optional<CopyScores> copies_;
  std::shared_ptr<const Candidates> candidates_;  // null: all tokens
};

}  // namespace heed
