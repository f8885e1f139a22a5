#include "heed/generation/penalties.h"

#include <algorithm>
#include <limits>

namespace heed {
namespace {

using Tokens = std::vector<std::int32_t>;

Tokens sorted(std::span<const std::int32_t> tokens) {
  Tokens all(tokens.begin(), tokens.end());
  std::sort(all.begin(), all.end());
  return all;
}

// A finite score stays finite.
void repeat(float& score, float penalty) {
  score =
      std::min(score < 0.0f ? score * penalty : score / penalty, std::numeric_limits<float>::max());
}

}  // namespace

ScoreChange penalise_repetition(double penalty, std::span<const std::int32_t> prompt) {
  Tokens before = sorted(prompt);
  before.erase(std::unique(before.begin(), before.end()), before.end());
  return [before = std::move(before), penalty = static_cast<float>(penalty)](
             std::span<const std::int32_t> prefix, std::span<float> scores) {
    for (const std::int32_t token : before) {
      const auto at = static_cast<std::size_t>(token);
      if (at < scores.size()) repeat(scores[at], penalty);  // a prompt may have any tokens
    }
    const Tokens own = sorted(prefix);
    for (auto at = own.begin(); at != own.end(); at = std::upper_bound(at, own.end(), *at)) {
      if (std::binary_search(before.begin(), before.end(), *at)) continue;
      repeat(scores[static_cast<std::size_t>(*at)], penalty);
    }
  };
}

ScoreChange penalise_count(double presence, double frequency) {
  return [presence, frequency](std::span<const std::int32_t> prefix, std::span<float> scores) {
    const Tokens own = sorted(prefix);
    for (auto at = own.begin(); at != own.end();) {
      const auto next = std::upper_bound(at, own.end(), *at);
      const double change = presence + frequency * static_cast<double>(next - at);
      scores[static_cast<std::size_t>(*at)] -= static_cast<float>(change);
      at = next;
    }
  };
}

}  // namespace heed
