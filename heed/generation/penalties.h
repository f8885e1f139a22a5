// Penalties for tokens that a text has already. They change the scores by which tokens are chosen,
// never the probabilities that results report.
//
//   repetition  s / penalty if s > 0, else s * penalty, for each token of prompt and text (Keskar
//   et
//               al. 2019, CTRL)
//   presence    s - penalty for each token of the text, and
//   frequency   s - penalty * count of the token in the text (as OpenAI defines both)
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace heed {

/// Changes the scores [V] of the tokens that may follow a prefix. Greedy search and sampling apply
/// changes to logits, a beam to log-probabilities, as transformers does.
using ScoreChange =
    std::function<void(std::span<const std::int32_t> prefix, std::span<float> scores)>;

/// The penalty is above 0; 1 changes nothing.
ScoreChange penalise_repetition(double penalty, std::span<const std::int32_t> prompt);

/// 0 changes nothing; penalties below 0 favour repetition.
ScoreChange penalise_count(double presence, double frequency);

}  // namespace heed
