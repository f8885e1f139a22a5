// Beam search against the definition, on many random models; against all results there are; and
// what it must not compute.
#include "heed/generation/beam.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/base/threads.h"
#include "tests/generation/plain_search.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::expect_same;
using test::first_sentences;
using test::HashScores;
using test::starts_of;
using test::Tokens;
using test::ToyModel;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One of many different searches, with a model for it.
struct Trial {
  HashScores scores;
  SearchOptions options;
  std::int64_t sentences;
  std::string name;
  bool has_two_ends = false, is_cut = false, stops = false;
  bool is_end_certain = false, renormalised = false, has_forced = false;

  SearchPlan plan() const {
    using Ends = std::vector<std::int32_t>;
    SearchPlan made = make_plan(options, {}, has_two_ends ? Ends{2, 0} : Ends{2});
    made.is_cut = is_cut;
    made.is_end_certain = is_end_certain;
    made.renormalised = renormalised;
    if (stops) {
      made.stop = [](std::span<const std::int32_t> tokens) {
        return tokens.back() == 4 && tokens.size() > 1;
      };
    }
    return made;
  }
  std::vector<Start> starts() const {
    std::vector<Start> all = starts_of(sentences);
    if (has_forced) all.back().forced = {3, 0};
    return all;
  }
};

Trial trial(std::uint64_t number) {
  const RandomStream random{7, number};
  std::uint64_t at = 0;
  const auto pick = [&](auto... of) {
    const double all[] = {static_cast<double>(of)...};
    return all[random.below(at++, sizeof...(of))];
  };
  const auto whole = [](double x) { return static_cast<std::int64_t>(x); };
  Trial t;
  t.scores = {.vocabulary = whole(pick(4, 5, 6, 9, 17)),
              .seed = number,
              .scale = static_cast<float>(pick(0.3, 1, 3)),
              .end_bonus = static_cast<float>(pick(-2, 0, 2)),
              .ties = pick(0, 0, 1) == 1,
              .impossible = pick(0, 0, 1) == 1};
  t.options = {.beam_size = whole(pick(1, 2, 3, 5, 8, 20)),
               .stopping = pick(0, 1) == 0 ? Stopping::exact : Stopping::first,
               .length_penalty = pick(0, 0.5, 1, 2),
               .length_penalty_form = pick(0, 1) == 0 ? LengthPenalty::power : LengthPenalty::gnmt,
               .min_length = whole(pick(0, 0, 1, 3)),
               .max_length = whole(pick(3, 5, 9)),
               .max_length_ratio = pick(0, 1, 2, 9),
               .max_length_extra = pick(0, 1, 4),
               .no_repeat_ngram = whole(pick(0, 0, 1, 2, 3)),
               .allow_unknown = pick(0, 1) == 1};
  t.options.n_best = std::min(t.options.beam_size, whole(pick(1, 2, 5)));
  t.sentences = whole(pick(1, 2, 4));
  t.name = fmt::format("trial {}", number);
  t.has_two_ends = pick(0, 0, 1) == 1;
  t.is_cut = pick(0, 1) == 1;
  t.stops = pick(0, 0, 1) == 1;
  if (pick(0, 0, 1) == 1) t.options.stopping = Stopping::estimate;
  t.is_end_certain = pick(0, 0, 1) == 1;
  t.renormalised = pick(0, 0, 1) == 1;
  t.has_forced = !t.has_two_ends && pick(0, 1) == 1;
  t.options.repetition_penalty = pick(1, 1, 1.3, 0.8);
  t.options.presence_penalty = pick(0, 0, 0.7, -0.4);
  t.options.frequency_penalty = pick(0, 0, 0.3);
  return t;
}

TEST(Beam, EqualsThePlainSearch) {
  std::size_t found = 0;
  for (std::uint64_t number = 0; number < 1500; ++number) {
    const Trial t = trial(number);
    const SearchPlan plan = t.plan();
    const std::vector<Start> starts = t.starts();
    ToyModel model(t.scores, first_sentences(t.sentences));
    const std::vector<NBest> results = beam_search(model, starts, plan);
    ASSERT_EQ(std::ssize(results), t.sentences);
    for (std::int64_t i = 0; i < t.sentences; ++i) {
      const auto at = static_cast<std::size_t>(i);
      expect_same(results[at], test::plain_beam({i, starts[at], t.scores}, plan), t.name);
      found += results[at].size();
    }
    ASSERT_FALSE(HasFailure()) << t.name;
  }
  EXPECT_GT(found, 5000u);
}

TEST(Beam, EachSentenceAloneGivesTheSameBits) {
  const HashScores scores{.vocabulary = 3000, .end_bonus = 6.0f};
  const SearchPlan plan = make_plan({.beam_size = 4, .n_best = 3, .max_length = 8}, {});
  const std::vector<Start> starts = starts_of(5);
  ToyModel together(scores, first_sentences(5));
  const std::vector<NBest> results = beam_search(together, starts, plan);
  const int threads_before = num_threads();
  for (std::int64_t i = 0; i < 5; ++i) {
    set_num_threads(1 + static_cast<int>(i) % 3);
    const auto at = static_cast<std::size_t>(i);
    ToyModel alone(scores, {i});
    expect_same(beam_search(alone, std::span(starts).subspan(at, 1), plan)[0], results[at],
                "alone");
  }
  set_num_threads(threads_before);
}

TEST(Beam, WideEnoughItFindsTheBestOfAll) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const HashScores scores{.vocabulary = 8, .seed = seed, .scale = 2.0f};
    for (const double alpha : {0.0, 0.6, 1.0, 1.7}) {
      const SearchPlan plan = make_plan({.beam_size = 400,
                                         .n_best = 7,
                                         .length_penalty = alpha,
                                         .max_length = 4,
                                         .max_length_extra = 9},
                                        {});
      ToyModel model(scores, {3});
      const Start start{};
      expect_same(beam_search(model, {&start, 1}, plan)[0],
                  test::best_of_all({3, start, scores}, plan),
                  fmt::format("seed {} alpha {}", seed, alpha));
    }
  }
}

// The end is likely after one token; with alpha 2 four tokens of probability 1/2 beat it, as only a
// bound that knows how long a result may become can tell.
TEST(Beam, ALongerResultThatScoresBetterIsWaitedFor) {
  const test::Scorer scorer = [](std::int64_t, const Tokens& fed) {
    std::vector<float> p(6, 0.0f);
    const bool at_end = fed.size() == 5;
    p[2] = at_end ? 1.0f : 0.5f;
    p[4] = at_end ? 0.0f : 0.5f;
    for (float& x : p) x = std::log(x);
    return p;
  };
  const Start start{};
  for (const Stopping stopping : {Stopping::exact, Stopping::first, Stopping::estimate}) {
    ToyModel model(6, scorer, {0});
    const SearchPlan plan =
        make_plan({.beam_size = 2, .stopping = stopping, .length_penalty = 2.0}, {});
    const Hypothesis found = beam_search(model, {&start, 1}, plan)[0].at(0);
    const bool exact = stopping != Stopping::first;  // here an estimate is right
    EXPECT_EQ(found.tokens.size(), exact ? 4u : 1u) << io::enum_name(stopping);
    EXPECT_NEAR(found.score, exact ? std::log(0.5) * 4 / 25 : std::log(0.5) * 2 / 4, 1e-6);
    EXPECT_EQ(model.steps.size(), exact ? 5u : 2u);
  }
}

// The end comes after three tokens. What follows has a small probability, but a bound for 60 tokens
// does not exclude it at once.
TEST(Beam, AnEstimateStopsWhenTheBestSoFarIsNoBetter) {
  const test::Scorer scorer = [](std::int64_t, const Tokens& fed) {
    const float likely = fed.size() < 4 ? 0.9f : 0.01f;
    std::vector<float> p = {0, 0, 0.1f, 0, likely, 0};
    for (float& x : p) x = std::log(x);
    return p;
  };
  const Start start{};
  for (const auto& [stopping, steps] :
       {std::pair(Stopping::estimate, 4u), std::pair(Stopping::exact, 6u)}) {
    ToyModel model(6, scorer, {0});
    const SearchPlan plan = make_plan(
        {.beam_size = 1, .stopping = stopping, .max_length = 60, .max_length_extra = 60}, {});
    beam_search(model, {&start, 1}, plan);
    EXPECT_EQ(model.steps.size(), steps);
  }
}

TEST(Beam, WithoutLengthPenaltyItStopsAtOnceWhenTheEndIsLikeliest) {
  const test::Scorer scorer = [](std::int64_t, const Tokens&) {
    return std::vector<float>{0, 0, 5, 0, 1, 1};
  };
  ToyModel model(6, scorer, {0, 1});
  const SearchPlan plan = make_plan({.beam_size = 3, .length_penalty = 0.0}, {});
  for (const NBest& found : beam_search(model, starts_of(2), plan)) {
    EXPECT_TRUE(found.at(0).tokens.empty());
    EXPECT_EQ(found[0].token_log_probabilities.size(), 1u);
    EXPECT_EQ(found[0].score, found[0].log_probability);
  }
  EXPECT_THAT(model.steps, ElementsAre(2));
}

TEST(Beam, WhatCannotWinIsNotComputed) {
  // After the first step the end has 0.6, tokens 4 and 5 have 0.3 and 0.1: none can become better.
  // The second sentence may not end before 2 tokens.
  const test::Scorer scorer = [](std::int64_t sentence, const Tokens& fed) {
    const bool waits = sentence == 1 && fed.size() < 3;
    std::vector<float> p = {0, 0, waits ? 0.0f : 0.6f, 0, waits ? 0.7f : 0.3f, waits ? 0.3f : 0.1f};
    for (float& x : p) x = std::log(x);
    return p;
  };
  ToyModel model(6, scorer, {0, 1});
  beam_search(model, starts_of(2), make_plan({.beam_size = 2, .length_penalty = 0.0}, {}));
  EXPECT_THAT(model.steps, ElementsAre(2, 2, 2));  // two sentences, then the second's two
}

TEST(Beam, TiesGoToTheBetterHypothesisThenToTheLowerToken) {
  const test::Scorer even = [](std::int64_t, const Tokens&) { return std::vector<float>(7, 0.0f); };
  ToyModel model(7, even, {0});
  const Start start{};
  const SearchPlan plan = make_plan({.beam_size = 3,
                                     .n_best = 3,
                                     .length_penalty = 0.0,
                                     .min_length = 2,
                                     .max_length = 2,
                                     .max_length_extra = 2},
                                    {});
  const NBest found = beam_search(model, {&start, 1}, plan)[0];
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].tokens, (Tokens{4, 4}));
  EXPECT_EQ(found[1].tokens, (Tokens{4, 5}));
  EXPECT_EQ(found[2].tokens, (Tokens{4, 6}));
}

TEST(Beam, AtItsGreatestLengthAResultEnds) {
  const HashScores scores{.end_bonus =
                              -9.0f};  // token 4, the only one that is not special, is likely
  const Start start{};
  for (const std::int64_t longest : {0, 1}) {
    ToyModel model(scores, {0});
    const SearchPlan plan = make_plan({.beam_size = 2, .n_best = 2, .max_length = longest}, {});
    const NBest found = beam_search(model, {&start, 1}, plan)[0];
    EXPECT_EQ(std::ssize(found), longest + 1);
    EXPECT_EQ(std::ssize(found.at(0).tokens), longest);
    EXPECT_EQ(std::ssize(model.steps), longest + 1);
  }
}

TEST(Beam, NothingPossibleFindsNothing) {
  const test::Scorer none = [](std::int64_t, const Tokens& fed) {
    return std::vector<float>(6, fed.size() < 3 ? 0.0f : -kInfinity);
  };
  ToyModel model(6, none, {0});
  const Start start{};
  const SearchPlan plan = make_plan({.beam_size = 3, .min_length = 2}, {});
  EXPECT_TRUE(beam_search(model, {&start, 1}, plan)[0].empty());
}

TEST(Beam, ScoresThatAreNoNumbersAreAnError) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity}) {
    const test::Scorer scorer = [bad](std::int64_t sentence, const Tokens& fed) {
      std::vector<float> scores(6, 0.0f);
      if (sentence == 1 && fed.size() == 3) scores[5] = bad;
      return scores;
    };
    ToyModel model(6, scorer, {0, 1});
    EXPECT_THAT(error_message([&] { beam_search(model, starts_of(2), make_plan({}, {})); }),
                HasSubstr("sentence 1, token 2: the model's scores hold NaN"));
  }
}

TEST(Beam, AnEmptyBatch) {
  ToyModel model(HashScores{}, {});
  EXPECT_TRUE(beam_search(model, {}, make_plan({}, {})).empty());
  EXPECT_TRUE(model.steps.empty());
}

}  // namespace
}  // namespace heed
