// Scoring given results: the bits that the searches gave them, and mistakes.
#include "heed/generation/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/beam.h"
#include "tests/generation/toy_model.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::expect_same;
using test::first_sentences;
using test::HashScores;
using test::starts_of;
using test::Tokens;
using test::ToyModel;

TEST(Score, GivesWhatTheSearchGave) {
  const HashScores scores{.vocabulary = 2500, .end_bonus = 5.0f};
  const std::vector<Start> starts = starts_of(6);
  const SearchPlan plan = make_plan({.n_best = 3, .max_length = 9, .no_repeat_ngram = 1}, {});
  ToyModel model(scores, first_sentences(6));
  const std::vector<NBest> found = beam_search(model, starts, plan);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    std::vector<Tokens> targets;
    for (const NBest& of_sentence : found) targets.push_back(of_sentence.at(rank).tokens);
    ToyModel again(scores, first_sentences(6));
    const std::vector<Hypothesis> scored = score_targets(again, starts, targets, plan);
    for (std::size_t i = 0; i < 6; ++i) expect_same({scored[i]}, {found[i][rank]}, "scored");
  }
}

TEST(Score, WhatASearchMayNotChooseHasAProbabilityAllTheSame) {
  const test::Scorer scorer = [](std::int64_t, const Tokens&) {
    return std::vector<float>{0, 0, 0, 0, -std::numeric_limits<float>::infinity()};
  };
  ToyModel model(5, scorer, {0, 1, 2});
  const std::vector<Tokens> targets = {{}, {0, 1, 3, 0, 0}, {4}};
  const SearchPlan plan = make_plan({.length_penalty = 0, .max_length = 2}, {});
  const std::vector<Hypothesis> scored = score_targets(model, starts_of(3), targets, plan);
  EXPECT_NEAR(scored[0].score, std::log(0.25), 1e-6);
  EXPECT_NEAR(scored[1].score, 6 * std::log(0.25), 1e-5);
  EXPECT_EQ(scored[2].score, -std::numeric_limits<double>::infinity());
  EXPECT_THAT(model.steps, testing::ElementsAre(3, 2, 1, 1, 1, 1));
}

TEST(Score, MistakesAreNamed) {
  ToyModel model(HashScores{.vocabulary = 5}, {0});
  const SearchPlan plan = make_plan({}, {});
  const std::vector<Tokens> two(2), outside = {{4, 5}}, below = {{-1}};
  EXPECT_EQ(error_message([&] { score_targets(model, starts_of(1), two, plan); }),
            "[score] 2 targets for 1 sentences");
  EXPECT_EQ(error_message([&] { score_targets(model, starts_of(1), outside, plan); }),
            "[score] token 5 is not among the model's 5 tokens");
  EXPECT_EQ(error_message([&] { score_targets(model, starts_of(1), below, plan); }),
            "[score] token -1 is not among the model's 5 tokens");
}

}  // namespace
}  // namespace heed
