#include "heed/generation/sample.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "heed/base/arena.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/generation/greedy.h"
#include "heed/kernels/softmax.h"

namespace heed {
namespace {

double weight_of(std::span<const float> weights, std::int32_t token) {
  return weights[static_cast<std::size_t>(token)];
}

double total_weight(std::span<const float> weights, std::span<const std::int32_t> tokens) {
  double total = 0.0;
  for (const std::int32_t token : tokens) total += weight_of(weights, token);
  return total;
}

// 53 random bits: with 24, half of the tail of a large vocabulary would never be drawn.
double uniform(RandomStream random, const Sequence& sequence) {
  const auto copy = static_cast<std::uint64_t>(sequence.copy);
  const std::uint64_t at = (copy << 32) + 2 * sequence.so_far.tokens.size();
  const std::uint64_t high = random.bits(at) >> 5, low = random.bits(at + 1) >> 6;
  return static_cast<double>((high << 26) + low) * 0x1p-53;
}

// softmax(scores / temperature), with 0 for banned tokens.
void tempered(const Lockstep& lockstep, std::int64_t row, double temperature, float* weights) {
  const std::span<const float> scores = lockstep.scores(row);
  const float shift = lockstep.shift(row);
  const auto scale = static_cast<float>(1.0 / temperature);
  for (std::size_t i = 0; i < scores.size(); ++i) weights[i] = (scores[i] - shift) * scale;
  for (const std::int32_t token : lockstep.banned(row)) {
    weights[token] = -std::numeric_limits<float>::infinity();
  }
  kernels::softmax({1, std::ssize(scores)}, weights, weights);
}

}  // namespace

std::vector<std::int32_t> cut_tail(std::span<const float> weights, const TailCut& cut) {
  const double greatest = weights.empty() ? 0.0 : *std::ranges::max_element(weights);
  const double least = cut.min_p * greatest;
  // What top_p counts may not be left out before it.
  const double least_before = cut.top_p < 1.0 ? 0.0 : least;
  std::vector<std::int32_t> tokens;
  for (std::int32_t i = 0; i < std::ssize(weights); ++i) {
    const double weight = weight_of(weights, i);
    if (weight > 0.0 && weight >= least_before) tokens.push_back(i);
  }
  const auto by_weight = [&](std::int32_t a, std::int32_t b) {
    const double x = weight_of(weights, a), y = weight_of(weights, b);
    return x > y || (x == y && a < b);
  };
  if (cut.top_k > 0 && cut.top_k < std::ssize(tokens)) {
    std::nth_element(tokens.begin(), tokens.begin() + cut.top_k, tokens.end(), by_weight);
    tokens.resize(static_cast<std::size_t>(cut.top_k));
  }
  // A nucleus is usually small: it is sorted piece by piece, and only as far as needed.
  const double wanted = cut.top_p < 1.0 ? cut.top_p * total_weight(weights, tokens)
                                        : std::numeric_limits<double>::infinity();
  double reached = 0.0;
  std::int64_t sorted = 0, kept = 0;
  while (kept < std::ssize(tokens) && reached < wanted) {
    if (kept == sorted) {
      sorted = std::min(std::max<std::int64_t>(64, 8 * sorted), std::ssize(tokens));
      std::partial_sort(tokens.begin() + kept, tokens.begin() + sorted, tokens.end(), by_weight);
    }
    reached += weight_of(weights, tokens[static_cast<std::size_t>(kept++)]);
  }
  while (kept > 0 && weight_of(weights, tokens[static_cast<std::size_t>(kept - 1)]) < least) --kept;
  tokens.resize(static_cast<std::size_t>(kept));
  return tokens;
}

std::int32_t draw(std::span<const float> weights, std::span<const std::int32_t> tokens,
                  double uniform) {
  const double target = uniform * total_weight(weights, tokens);
  double reached = 0.0;
  std::int32_t last = kernels::kNoToken;  // used if rounding leaves the sum below the target
  for (const std::int32_t token : tokens) {
    const double weight = weight_of(weights, token);
    if (weight == 0.0) continue;
    reached += weight;
    if (reached > target) return token;
    last = token;
  }
  return last;
}

std::vector<NBest> sample(StepModel& model, std::span<const Start> starts, const SearchPlan& plan) {
  const SearchOptions& options = plan.options;
  std::vector<std::int32_t> all(static_cast<std::size_t>(model.vocabulary()));
  std::iota(all.begin(), all.end(), 0);
  const TailCut cut{.top_k = options.top_k, .top_p = options.top_p, .min_p = options.min_p};
  const bool whole = cut.top_k == 0 && cut.top_p >= 1.0 && cut.min_p <= 0.0;

  const auto pick = [&](const Lockstep& lockstep, std::int64_t row) -> std::int32_t {
    if (lockstep.is_settled(row)) {
      const std::span<const std::int32_t> only = lockstep.likeliest(row);
      return only.empty() ? kernels::kNoToken : only[0];
    }
    const Scratch<float> scratch(std::ssize(all));
    tempered(lockstep, row, options.temperature, scratch.data());
    const std::span<const float> weights(scratch.data(), all.size());
    const Sequence& sequence = lockstep.sequence(row);
    const Start& start = starts[static_cast<std::size_t>(sequence.sentence)];
    const double u = uniform({options.seed, start.stream}, sequence);
    return whole ? draw(weights, all, u) : draw(weights, cut_tail(weights, cut), u);
  };
  Lockstep lockstep(model, starts, plan, options.n_best);
  constexpr std::int64_t kCost = 16;  // operations per token of the vocabulary, roughly
  return roll_out(lockstep, 1, [&](const Lockstep& now, std::span<std::int32_t> picked) {
    parallel_for(now.rows(), kCost * std::ssize(all),
                 [&](std::int64_t row) { picked[static_cast<std::size_t>(row)] = pick(now, row); });
  });
}

}  // namespace heed
