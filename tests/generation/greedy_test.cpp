// Greedy search against the definition and against a beam of one; what it must not compute.
#include "heed/generation/greedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/beam.h"
#include "tests/generation/plain_search.h"

namespace heed {
namespace {

using test::expect_same;
using test::first_sentences;
using test::HashScores;
using test::starts_of;
using test::ToyModel;

TEST(Greedy, EqualsThePlainSearchAndABeamOfOne) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const HashScores scores{.vocabulary = 5 + static_cast<std::int64_t>(seed % 8),
                            .seed = seed,
                            .end_bonus = seed % 2 == 0 ? 1.0f : -1.0f,
                            .ties = seed % 3 == 0,
                            .impossible = seed % 5 == 0};
    const SearchPlan plan = make_plan({.beam_size = 1,
                                       .stopping = Stopping::first,
                                       .min_length = static_cast<std::int64_t>(seed % 3),
                                       .max_length = static_cast<std::int64_t>(2 + seed % 7),
                                       .max_length_extra = 3,
                                       .no_repeat_ngram = static_cast<std::int64_t>(seed % 4)},
                                      {});
    const std::vector<Start> starts = starts_of(4);
    ToyModel model(scores, first_sentences(4)), same(scores, first_sentences(4));
    const std::vector<NBest> greedy = greedy_search(model, starts, plan);
    const std::vector<NBest> beam = beam_search(same, starts, plan);
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::string what = fmt::format("seed {} sentence {}", seed, i);
      expect_same(greedy[at], test::plain_greedy({i, starts[at], scores}, plan), what);
      expect_same(beam[at], greedy[at], what);
    }
  }
}

TEST(Greedy, EqualsThePlainSearchWithPenalties) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const HashScores scores{.vocabulary = 5 + static_cast<std::int64_t>(seed % 8), .seed = seed};
    const SearchPlan plan = make_plan({.beam_size = 1,
                                       .max_length = 9,
                                       .repetition_penalty = seed % 3 == 0 ? 1.0 : 1.4,
                                       .presence_penalty = seed % 2 == 0 ? 0.0 : 0.6,
                                       .frequency_penalty = seed % 5 == 0 ? 0.0 : 0.2},
                                      {}, {2}, std::vector<std::int32_t>{4, 0, 4});
    const std::vector<Start> starts = starts_of(4);
    ToyModel model(scores, first_sentences(4));
    const std::vector<NBest> greedy = greedy_search(model, starts, plan);
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto at = static_cast<std::size_t>(i);
      expect_same(greedy[at], test::plain_greedy({i, starts[at], scores}, plan),
                  fmt::format("seed {} sentence {}", seed, i));
    }
  }
}

TEST(Greedy, FinishedSentencesAreNotComputed) {
  const HashScores scores{.vocabulary = 9, .seed = 4};
  const SearchPlan plan = make_plan({.beam_size = 1}, {});
  ToyModel model(scores, first_sentences(20));
  std::int64_t tokens = 0, computed = 0;
  for (const NBest& found : greedy_search(model, starts_of(20), plan)) {
    tokens += std::ssize(found.at(0).tokens) + 1;
  }
  for (const std::int64_t rows : model.steps) computed += rows;
  EXPECT_EQ(computed, tokens);
  EXPECT_LT(model.reorders, std::ssize(model.steps));  // none where all go on
}

TEST(Greedy, WithoutEndItStopsAtTheGreatestLength) {
  const test::Scorer scorer = [](std::int64_t, const test::Tokens&) {
    return std::vector<float>{0, 0, -50, 0, 7};
  };
  ToyModel model(5, scorer, first_sentences(3));
  const SearchPlan plan =
      make_plan({.max_length = 9, .max_length_ratio = 4, .max_length_extra = 0.9}, {});
  const std::vector<NBest> found = greedy_search(model, starts_of(3), plan);
  EXPECT_EQ(found[0].at(0).tokens.size(), 4u);
  EXPECT_EQ(found[1].at(0).tokens.size(), 8u);
  EXPECT_EQ(found[2].at(0).tokens.size(), 9u);
  EXPECT_NEAR(found[0][0].token_log_probabilities.back(), -57.0, 1e-2);  // the end's, forced or not
}

}  // namespace
}  // namespace heed
