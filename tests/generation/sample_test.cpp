// Sampling: frequencies against the distribution, the cuts as their papers define them, and draws
// that depend on nothing they should not.
#include "heed/generation/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "heed/base/threads.h"
#include "heed/kernels/likeliest.h"
#include "tests/generation/toy_model.h"
#include "tests/support/sanitized.h"

namespace heed {
namespace {

using test::expect_same;
using test::first_sentences;
using test::HashScores;
using test::starts_of;
using test::Tokens;
using test::ToyModel;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(CutTail, TheLikeliestK) {
  const std::vector<float> weights = {0.1f, 0.4f, 0.0f, 0.4f, 0.1f};
  EXPECT_THAT(cut_tail(weights, {.top_k = 1}), ElementsAre(1));
  EXPECT_THAT(cut_tail(weights, {.top_k = 3}), ElementsAre(1, 3, 0));
  EXPECT_THAT(cut_tail(weights, {}), ElementsAre(1, 3, 0, 4));
  EXPECT_THAT(cut_tail(weights, {.top_k = 99}), ElementsAre(1, 3, 0, 4));
  EXPECT_THAT(cut_tail(std::vector<float>(3, 0.0f), {.top_k = 2, .top_p = 0.5}), IsEmpty());
}

TEST(CutTail, TheFewestThatReachP) {
  const std::vector<float> weights = {0.125f, 0.5f, 0.25f, 0.125f};
  EXPECT_THAT(cut_tail(weights, {.top_p = 0.01}), ElementsAre(1));
  EXPECT_THAT(cut_tail(weights, {.top_p = 0.5}), ElementsAre(1));
  EXPECT_THAT(cut_tail(weights, {.top_p = 0.51}), ElementsAre(1, 2));
  EXPECT_THAT(cut_tail(weights, {.top_p = 0.76}), ElementsAre(1, 2, 0));
  EXPECT_THAT(cut_tail(weights, {.top_p = 0.88}), ElementsAre(1, 2, 0, 3));
}

TEST(CutTail, PIsAShareOfWhatKLeaves) {
  const std::vector<float> weights = {0.125f, 0.5f, 0.25f, 0.125f};
  EXPECT_THAT(cut_tail(weights, {.top_k = 2, .top_p = 0.66}), ElementsAre(1));  // 2/3 of the two
  EXPECT_THAT(cut_tail(weights, {.top_k = 2, .top_p = 0.67}), ElementsAre(1, 2));
}

TEST(CutTail, AShareOfTheGreatest) {
  const std::vector<float> weights = {0.125f, 0.5f, 0.25f, 0.125f};
  EXPECT_THAT(cut_tail(weights, {.min_p = 0.25}), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(cut_tail(weights, {.min_p = 0.26}), ElementsAre(1, 2));
  EXPECT_THAT(cut_tail(weights, {.min_p = 1.0}), ElementsAre(1));
  EXPECT_THAT(cut_tail(weights, {.top_k = 3, .min_p = 0.1}), ElementsAre(1, 2, 0));
  EXPECT_THAT(cut_tail(weights, {.top_k = 1, .min_p = 0.1}), ElementsAre(1));
  // Of all four, 0.7 is the share of the first two; of those that min_p leaves, it would be one.
  EXPECT_THAT(cut_tail(weights, {.top_p = 0.6, .min_p = 0.3}), ElementsAre(1, 2));
  EXPECT_THAT(cut_tail(weights, {.top_p = 0.88, .min_p = 0.3}), ElementsAre(1, 2));
  EXPECT_THAT(cut_tail(std::vector<float>(3, 0.0f), {.min_p = 0.5}), IsEmpty());
}

TEST(CutTail, ByTheDefinitionForEverySize) {
  for (const std::int64_t n : {1, 7, 64, 65, 600, 5000}) {
    std::vector<float> weights(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>(RandomStream{1, 2}.below(i, 50));  // many are equal
    }
    Tokens order(weights.size());
    double total = 0.0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<std::int32_t>(i);
      total += weights[i];
    }
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return weights[static_cast<std::size_t>(a)] > weights[static_cast<std::size_t>(b)];
    });
    for (const double p : {0.001, 0.3, 0.9, 0.9999}) {
      Tokens expected;
      double sum = 0.0;
      for (const std::int32_t token : order) {
        if (sum >= p * total) break;
        sum += weights[static_cast<std::size_t>(token)];
        expected.push_back(token);
      }
      EXPECT_EQ(cut_tail(weights, {.top_p = p}), expected) << n << " " << p;
    }
  }
}

TEST(Draw, SharesOfTheUnitInterval) {
  const std::vector<float> weights = {1, 0, 2, 1};
  const Tokens all = {0, 1, 2, 3}, some = {3, 2};
  EXPECT_EQ(draw(weights, all, 0.0), 0);
  EXPECT_EQ(draw(weights, all, 0.2499), 0);
  EXPECT_EQ(draw(weights, all, 0.25), 2);
  EXPECT_EQ(draw(weights, all, 0.7499), 2);
  EXPECT_EQ(draw(weights, all, 0.75), 3);
  EXPECT_EQ(draw(weights, all, std::nextafter(1.0, 0.0)), 3);
  EXPECT_EQ(draw(weights, some, 0.3), 3);
  EXPECT_EQ(draw(weights, some, 0.34), 2);
  EXPECT_EQ(draw(weights, {}, 0.5), kernels::kNoToken);
  EXPECT_EQ(draw(std::vector<float>{0, 0}, Tokens{0, 1}, 0.5), kernels::kNoToken);
}

// How often each token comes first in n sentences of one token.
std::map<std::int32_t, std::int64_t> first_tokens(const std::vector<float>& scores, std::int64_t n,
                                                  SearchOptions options,
                                                  const Tokens& prompt = {}) {
  options.method = SearchMethod::sample;
  options.max_length = 1;
  options.min_length = 1;
  ToyModel model(
      std::ssize(scores), [&](std::int64_t, const Tokens&) { return scores; }, first_sentences(n));
  std::map<std::int32_t, std::int64_t> counts;
  for (const NBest& found : sample(model, starts_of(n), make_plan(options, {}, {2}, prompt))) {
    ++counts[found.at(0).tokens.at(0)];
  }
  return counts;
}

// Pearson's statistic of counts against probabilities; a token that should not come is infinitely
// wrong.
double chi_square(const std::map<std::int32_t, std::int64_t>& counts, std::int64_t n,
                  const std::map<std::int32_t, double>& expected) {
  double sum = 0.0;
  for (const auto& [token, count] : counts) {
    if (!expected.contains(token)) return INFINITY;
  }
  for (const auto& [token, p] : expected) {
    const double wanted = p * static_cast<double>(n);
    const auto found = counts.find(token);
    const double count = found == counts.end() ? 0.0 : static_cast<double>(found->second);
    sum += (count - wanted) * (count - wanted) / wanted;
  }
  return sum;
}

// softmax(scores / temperature) over some tokens.
std::map<std::int32_t, double> distribution(const std::vector<float>& scores, const Tokens& tokens,
                                            double temperature) {
  std::map<std::int32_t, double> p;
  double total = 0.0;
  for (const std::int32_t t : tokens) {
    total += p[t] =
        std::exp(static_cast<double>(scores[static_cast<std::size_t>(t)]) / temperature);
  }
  for (auto& [token, value] : p) value /= total;
  return p;
}

TEST(Sample, FrequenciesFollowTheDistribution) {
  constexpr std::int64_t kDraws = 20000;
  // Tokens 0 to 3 are special: not drawn, whatever they score.
  const std::vector<float> scores = {9, 9, 9, 9, 0.0f, 1.0f, 2.0f, -1.0f, 0.5f};
  // Above it lies a thousandth of the chi-square distribution of 4 degrees of freedom.
  constexpr double kBound = 18.5;
  for (const std::uint64_t seed : {1, 2, 3}) {
    if (test::is_sanitized() && seed > 1) break;
    for (const double temperature : {0.5, 1.0, 3.0}) {
      const auto counts = first_tokens(scores, kDraws, {.temperature = temperature, .seed = seed});
      EXPECT_LT(chi_square(counts, kDraws, distribution(scores, {4, 5, 6, 7, 8}, temperature)),
                kBound);
    }
    EXPECT_LT(chi_square(first_tokens(scores, kDraws, {.top_k = 3, .seed = seed}), kDraws,
                         distribution(scores, {5, 6, 8}, 1.0)),
              kBound);
    EXPECT_LT(chi_square(first_tokens(scores, kDraws, {.min_p = 0.3, .seed = seed}), kDraws,
                         distribution(scores, {5, 6}, 1.0)),
              kBound);
    // 6 has 0.56, with 5 it is 0.77, with 8 it is 0.90.
    EXPECT_LT(chi_square(first_tokens(scores, kDraws, {.top_p = 0.78, .seed = seed}), kDraws,
                         distribution(scores, {5, 6, 8}, 1.0)),
              kBound);
  }
  const auto cold = first_tokens(scores, 500, {.temperature = 1e-30});
  EXPECT_EQ(cold.size(), 1u);
  EXPECT_EQ(cold.begin()->first, 6);
}

// Probabilities of transformers 5.22: RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper,
// TopKLogitsWarper, TopPLogitsWarper and MinPLogitsWarper one after another, then softmax.
TEST(Sample, DrawsFromTheDistributionOfTransformers) {
  constexpr std::int64_t kDraws = 20000;
  constexpr double kBound = 24.3;  // a thousandth of the distribution of 7 degrees of freedom
  const std::vector<float> scores = {9, 9, 9, 9, 2, -1.5f, 0.5f, 3.25f, -0.25f, 1.75f, 0, 2.25f};
  const Tokens prompt = {7, 5, 7, 9, 10};
  struct Case {
    SearchOptions options;
    std::vector<double> expected;  // of tokens 4, 5, …
  };
  const Case cases[] = {
      {{.temperature = 0.7},
       {0.196719, 0.000697, 0.023079, 0.401843, 0.007905, 0.077301, 0.011298, 0.281158}},
      {{.temperature = 0.7, .top_k = 5},
       {0.200713, 0.0, 0.023547, 0.410002, 0.0, 0.078871, 0.0, 0.286867}},
      {{.temperature = 0.7, .top_k = 5, .top_p = 0.8},
       {0.223615, 0.0, 0.0, 0.456785, 0.0, 0.0, 0.0, 0.3196}},
      {{.temperature = 0.7, .top_k = 5, .top_p = 0.8, .min_p = 0.6},
       {0.0, 0.0, 0.0, 0.588349, 0.0, 0.0, 0.0, 0.411651}},
      {{.temperature = 1.5, .top_p = 0.9, .min_p = 0.3},
       {0.236762, 0.0, 0.0, 0.330427, 0.0, 0.15311, 0.0, 0.279701}},
      {{.min_p = 0.3}, {0.224578, 0.0, 0.0, 0.370267, 0.0, 0.11679, 0.0, 0.288364}},
      {{.temperature = 2.0, .top_k = 6, .top_p = 0.95, .min_p = 0.1},
       {0.200861, 0.0, 0.09488, 0.257911, 0.0, 0.144849, 0.073893, 0.227606}},
  };
  for (Case c : cases) {
    std::map<std::int32_t, double> expected;
    for (std::size_t i = 0; i < c.expected.size(); ++i) {
      if (c.expected[i] > 0) expected[static_cast<std::int32_t>(i + 4)] = c.expected[i];
    }
    c.options.repetition_penalty = 1.3;
    EXPECT_LT(chi_square(first_tokens(scores, kDraws, c.options, prompt), kDraws, expected), kBound)
        << c.options.temperature << " " << c.options.min_p;
  }
}

std::vector<NBest> sampled(const std::vector<std::int64_t>& sentences,
                           const SearchOptions& changes) {
  SearchOptions options = changes;
  options.method = SearchMethod::sample;
  std::vector<Start> starts;
  for (const std::int64_t i : sentences) {
    starts.push_back({.source_length = 3, .stream = static_cast<std::uint64_t>(i)});
  }
  ToyModel model(HashScores{.vocabulary = 300, .end_bonus = 3.0f}, sentences);
  return sample(model, starts, make_plan(options, {}));
}

TEST(Sample, DependsOnSeedAndSentenceAlone) {
  for (const SearchOptions& options :
       {SearchOptions{}, SearchOptions{.top_k = 20}, SearchOptions{.top_p = 0.9}}) {
    const std::vector<NBest> all = sampled({0, 1, 2, 3, 4}, options);
    const int threads_before = num_threads();
    set_num_threads(1);
    expect_same(sampled({3}, options)[0], all[3], "alone");
    set_num_threads(3);
    expect_same(sampled({4, 0, 2}, options)[2], all[2], "another batch");
    set_num_threads(threads_before);
    SearchOptions other = options;
    other.seed = 2;
    EXPECT_NE(sampled({0}, other)[0].at(0).tokens, all[0].at(0).tokens);
  }
}

TEST(Sample, CopiesAreIndependentDrawsSortedByScore) {
  const NBest many = sampled({7}, {.n_best = 40})[0], few = sampled({7}, {.n_best = 3})[0];
  ASSERT_EQ(many.size(), 40u);
  EXPECT_TRUE(std::is_sorted(many.begin(), many.end(),
                             [](const auto& a, const auto& b) { return a.score > b.score; }));
  std::map<Tokens, int> different;
  for (const Hypothesis& h : many) ++different[h.tokens];
  EXPECT_GT(different.size(), 30u);
  for (const Hypothesis& h : few) EXPECT_TRUE(different.contains(h.tokens));
}

TEST(Sample, NoCopyRepeatsThePlacesOfAnother) {
  ToyModel model(104, [](std::int64_t, const Tokens&) { return std::vector<float>(104, 0.0f); },
                 {0});
  const SearchOptions options{.method = SearchMethod::sample,
                              .n_best = 5,
                              .min_length = 30,
                              .max_length = 30,
                              .max_length_extra = 30};
  const NBest found = sample(model, starts_of(1), make_plan(options, {}))[0];
  for (const Hypothesis& a : found) {
    for (const Hypothesis& b : found) {
      for (auto from = b.tokens.begin(); from + 5 <= b.tokens.end(); ++from) {
        const bool itself = &a == &b && from == b.tokens.begin();
        EXPECT_EQ(std::equal(from, from + 5, a.tokens.begin()), itself);
      }
    }
  }
}

TEST(Sample, ReportsTheModelsProbabilityNotTheTemperedOne) {
  const std::vector<float> scores = {0, 0, 0, 0, 0};
  ToyModel model(5, [&](std::int64_t, const Tokens&) { return scores; }, {0});
  const SearchOptions options{.method = SearchMethod::sample,
                              .min_length = 1,
                              .max_length = 1,
                              .temperature = 9.0,
                              .top_k = 1};
  const Hypothesis found = sample(model, starts_of(1), make_plan(options, {}))[0].at(0);
  EXPECT_THAT(found.tokens, ElementsAre(4));
  EXPECT_NEAR(found.log_probability, 2 * std::log(0.2), 1e-6);
}

TEST(Sample, NothingPossibleFindsNothing) {
  const float none = -std::numeric_limits<float>::infinity();
  ToyModel model(5,
                 [&](std::int64_t, const Tokens&) {
                   return std::vector<float>{0, 0, none, 0, none};
                 },
                 {0});
  const SearchOptions options{.method = SearchMethod::sample};
  EXPECT_TRUE(sample(model, starts_of(1), make_plan(options, {}))[0].empty());
}

}  // namespace
}  // namespace heed
