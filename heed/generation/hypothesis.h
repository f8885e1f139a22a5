// What searches begin with and what they find.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heed/models/decoding.h"

namespace heed {

/// Where one sentence begins.
struct Start {
  std::int32_t token = 1;  ///< The token before the first: begin, or a prompt's last.
  /// Tokens of the source, which bound the result's length; none: there is no source.
  std::optional<std::int64_t> source_length = 0;
  std::uint64_t stream = 0;  ///< Of random numbers; a sentence's own, whatever its batch.
};

/// One result. Probabilities are the model's own, whatever was forbidden or drawn.
struct Hypothesis {
  std::vector<std::int32_t> tokens = {};            ///< Without the end token.
  double score = 0.0;                               ///< The log-probability by the length penalty.
  double log_probability = 0.0;                     ///< Of all tokens, the end token among them.
  std::vector<float> token_log_probabilities = {};  ///< One per token, then the end token's.
  std::int64_t row = -1;                            ///< The model's row at the step that ended it.
  /// The attention weights it was written with, if they were observed.
  std::optional<ModelWeights> weights = {};
};

/// The results of one sentence, best first. Fewer than asked for, or none, only if the model and
/// the rules leave no other.
using NBest = std::vector<Hypothesis>;

}  // namespace heed
