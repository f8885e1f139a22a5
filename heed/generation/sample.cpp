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

std::int32_t draw_from_all(std::span<const float> weights, double uniform) {
  std::vector<std::int32_t> all(weights.size());
  std::iota(all.begin(), all.end(), 0);
  return draw(weights, all, uniform);
}

// Operations of drawing a token, per token of the vocabulary, roughly.
constexpr std::int64_t kDrawCost = 16;

class Sampler : public RollOut {
 public:
  explicit Sampler(const SearchSentence& sentence)
      : plan_(sentence.plan), random_{plan_->options.seed, sentence.start.stream} {}

  SearchNeeds needs() const override {
    return {.copies = plan_->options.n_best, .all_scores = true};
  }

 protected:
  void pick(const Lockstep& lockstep, std::int64_t begin,
            std::span<std::int32_t> picked) const override {
    const std::int64_t V = std::ssize(lockstep.scores(begin));
    parallel_for(std::ssize(picked), kDrawCost * V, [&](std::int64_t i) {
      picked[static_cast<std::size_t>(i)] = pick_one(lockstep, begin + i);
    });
  }

 private:
  std::int32_t pick_one(const Lockstep& lockstep, std::int64_t row) const {
    if (lockstep.is_settled(row)) {
      const std::span<const std::int32_t> only = lockstep.likeliest(row);
      return only.empty() ? kernels::kNoToken : only[0];
    }
    const SearchOptions& options = plan_->options;
    const std::int64_t V = std::ssize(lockstep.scores(row));
    const Scratch<float> scratch(V);
    tempered(lockstep, row, options.temperature, scratch.data());
    const std::span<const float> weights(scratch.data(), static_cast<std::size_t>(V));
    const double u = uniform(random_, lockstep.sequence(row));
    if (options.top_k == 0 && options.top_p >= 1.0 && options.min_p <= 0.0) {
      return draw_from_all(weights, u);
    }
    return draw(weights, cut_tail(weights, {options.top_k, options.top_p, options.min_p}), u);
  }

  std::shared_ptr<const SearchPlan> plan_;
  RandomStream random_;
};

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

std::unique_ptr<SentenceSearch> make_sampler(const SearchSentence& sentence) {
  return std::make_unique<Sampler>(sentence);
}

std::vector<NBest> sample(StepModel& model, std::span<const Start> starts, const SearchPlan& plan) {
  return run_searches(model, starts, plan, make_sampler);
}

}  // namespace heed
