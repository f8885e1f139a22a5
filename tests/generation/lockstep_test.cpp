// What all searches share: feeding and dropping rows, bans, and the mistakes it names.
#include "heed/generation/lockstep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "tests/generation/toy_model.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::starts_of;
using test::Tokens;
using test::ToyModel;
using testing::ElementsAre;

// Scores 0, 1, 2, … whatever came before.
ToyModel rising(std::int64_t vocabulary, std::vector<std::int64_t> sentences) {
  return {vocabulary,
          [vocabulary](std::int64_t, const Tokens&) {
            std::vector<float> scores;
            for (std::int64_t i = 0; i < vocabulary; ++i) scores.push_back(static_cast<float>(i));
            return scores;
          },
          std::move(sentences)};
}

// Sentences that begin together, with one plan.
Lockstep running(StepModel& model, const std::vector<Start>& starts, const SearchPlan& plan,
                 const SearchNeeds& needs = {}) {
  std::vector<SearchSentence> sentences;
  for (const Start& start : starts) {
    sentences.push_back({std::ssize(sentences), start, std::make_shared<SearchPlan>(plan)});
  }
  Lockstep lockstep(model);
  lockstep.join(sentences, std::vector(sentences.size(), needs));
  return lockstep;
}

TEST(Lockstep, FollowsTheExtensionsAndDropsTheOthers) {
  ToyModel model = rising(8, {0, 1, 2});
  const SearchPlan plan = make_plan({}, {});
  Lockstep lockstep = running(model, starts_of(3), plan, {.tokens = 2});
  lockstep.step();
  EXPECT_THAT(lockstep.likeliest(0), ElementsAre(7, 6));
  const std::vector<Extension> next = {{0, 7}, {0, 5}, {2, 6}};
  lockstep.advance(next);
  EXPECT_EQ(model.rows(), 3);
  EXPECT_EQ(model.reorders, 1);
  EXPECT_EQ(lockstep.sequence(1).sentence, 0);
  EXPECT_THAT(lockstep.sequence(1).so_far.tokens, ElementsAre(5));
  EXPECT_EQ(lockstep.sequence(2).sentence, 2);
  lockstep.step();
  EXPECT_EQ(lockstep.finish({2, 6}), std::nullopt);
  EXPECT_EQ(lockstep.finish({2, 2}), Finish::end);
  const Hypothesis ended = lockstep.finished({2, 2}, Finish::end);
  EXPECT_THAT(ended.tokens, ElementsAre(6));
  ASSERT_EQ(ended.token_log_probabilities.size(), 2u);
  EXPECT_EQ(ended.token_log_probabilities[1], lockstep.log_probability(2, 2));
  EXPECT_EQ(ended.log_probability, static_cast<double>(ended.token_log_probabilities[0]) +
                                       static_cast<double>(ended.token_log_probabilities[1]));
  EXPECT_EQ(ended.score, ended.log_probability / 2.0);
  lockstep.advance({});
  EXPECT_EQ(lockstep.rows(), 0);
}

TEST(Lockstep, RulesForbidButChangeNoProbability) {
  ToyModel model = rising(8, {0});
  SearchPlan plan = make_plan({}, {.unknown = 7});
  plan.rules.push_back(ban_tokens({5, 6, 99, -3, 5}));
  Lockstep lockstep = running(model, starts_of(1), plan, {.tokens = 8});
  lockstep.step();
  EXPECT_THAT(lockstep.likeliest(0), ElementsAre(4, 2, 0));
  EXPECT_THAT(lockstep.banned(0), ElementsAre(1, 3, 5, 6, 7));
  double total = 0.0;
  for (std::int32_t i = 0; i < 8; ++i) total += std::exp(lockstep.log_probability(0, i));
  EXPECT_NEAR(total, 1.0, 1e-6);
}

TEST(Lockstep, ChangesChooseButReportTheModelsProbability) {
  for (const ChangedScores changed : {ChangedScores::logits, ChangedScores::log_probabilities}) {
    ToyModel model = rising(8, {0});
    SearchPlan plan = make_plan({}, {});
    plan.changes = {[](std::span<const std::int32_t>, std::span<float> scores) { scores[7] *= 2; },
                    [](std::span<const std::int32_t>, std::span<float> scores) { scores[4] += 9; }};
    Lockstep lockstep =
        running(model, starts_of(1), plan, {.tokens = 8, .changed = changed, .all_scores = true});
    lockstep.step();
    const bool is_logits = changed == ChangedScores::logits;
    if (is_logits) {
      EXPECT_THAT(lockstep.likeliest(0), ElementsAre(7, 4, 6, 5, 2));
      EXPECT_EQ(lockstep.shift(0), 14.0f);
    } else {
      EXPECT_THAT(lockstep.likeliest(0), ElementsAre(4, 7, 6, 5, 2));  // -0.46 * 2 > -1.46
    }
    const float log_p = lockstep.log_probability(0, 7);
    EXPECT_NEAR(log_p, -0.4583, 1e-4);
    EXPECT_EQ(lockstep.gain(0, 7), is_logits ? log_p : 2 * log_p);
    const Hypothesis found = lockstep.finished({0, 7}, Finish::stop);
    EXPECT_EQ(found.log_probability, log_p);
    EXPECT_EQ(found.score, lockstep.gain(0, 7));
    const std::vector<Extension> next = {{0, 7}};
    lockstep.advance(next);
    EXPECT_EQ(lockstep.sequence(0).rank, is_logits ? log_p : 2 * log_p);
  }
}

TEST(Lockstep, AFullSequenceMayOnlyEndWhateverTheRulesSay) {
  ToyModel model = rising(8, {0});
  SearchPlan plan = make_plan({.max_length = 0}, {});
  plan.rules.push_back(ban_tokens({2}));
  Lockstep lockstep = running(model, starts_of(1), plan, {.tokens = 3});
  lockstep.step();
  EXPECT_TRUE(lockstep.full(0));
  EXPECT_THAT(lockstep.likeliest(0), ElementsAre(2));
}

TEST(Lockstep, SaysHowATokenCompletesASequence) {
  ToyModel model = rising(9, {0});
  SearchPlan plan = make_plan({.max_length = 2}, {}, {4, 8});
  plan.is_cut = true;
  plan.stop = [](std::span<const std::int32_t> tokens) { return tokens.back() == 7; };
  Lockstep lockstep = running(model, starts_of(1), plan, {.tokens = 9});
  lockstep.step();
  EXPECT_THAT(lockstep.likeliest(0), ElementsAre(8, 7, 6, 5, 4, 2));
  EXPECT_EQ(lockstep.finish({0, 4}), Finish::end);
  EXPECT_EQ(lockstep.finish({0, 8}), Finish::end);
  EXPECT_EQ(lockstep.finish({0, 7}), Finish::stop);
  EXPECT_EQ(lockstep.finish({0, 6}), std::nullopt);
  const Hypothesis stopped = lockstep.finished({0, 7}, Finish::stop);
  EXPECT_THAT(stopped.tokens, ElementsAre(7));
  EXPECT_THAT(stopped.token_log_probabilities, ElementsAre(lockstep.log_probability(0, 7)));
  EXPECT_EQ(stopped.finish, Finish::stop);
  const std::vector<Extension> next = {{0, 6}};
  lockstep.advance(next);
  lockstep.step();
  EXPECT_EQ(lockstep.finish({0, 8}), Finish::end);
  EXPECT_EQ(lockstep.finish({0, 7}), Finish::stop);
  EXPECT_EQ(lockstep.finish({0, 6}), Finish::length);
  const Hypothesis cut = lockstep.finished({0, 6}, Finish::length);
  EXPECT_THAT(cut.tokens, ElementsAre(6, 6));
  EXPECT_EQ(cut.score, cut.log_probability / 2.0);
}

TEST(Lockstep, WhatHasNoProbabilityIsNotOffered) {
  const test::Scorer far = [](std::int64_t, const Tokens& fed) {
    const float end = fed.size() == 1 ? 0.0f : -3e38f;
    return std::vector<float>{0, 0, end, 3e38f, -3e38f, -std::numeric_limits<float>::infinity()};
  };
  ToyModel model(6, far, {0});
  const SearchPlan plan = make_plan({.max_length = 1}, {.padding = -1});
  Lockstep lockstep = running(model, starts_of(1), plan, {.tokens = 4});
  lockstep.step();
  EXPECT_EQ(lockstep.log_probability(0, 2), -3e38f);
  EXPECT_THAT(lockstep.likeliest(0), ElementsAre(3, 2));
  const std::vector<Extension> next = {{0, 3}};
  lockstep.advance(next);
  lockstep.step();
  EXPECT_TRUE(lockstep.full(0));
  EXPECT_THAT(lockstep.likeliest(0), ElementsAre());
}

TEST(Lockstep, CopiesAreRowsOfTheirOwn) {
  ToyModel model = rising(8, {0, 1});
  const SearchPlan plan = make_plan({}, {});
  const Lockstep lockstep = running(model, starts_of(2), plan, {.copies = 3});
  EXPECT_EQ(model.rows(), 6);
  EXPECT_EQ(lockstep.sequence(4).sentence, 1);
  EXPECT_EQ(lockstep.sequence(4).copy, 1);
}

TEST(Lockstep, MistakesAreNamed) {
  const SearchPlan plan = make_plan({}, {});
  ToyModel model = rising(8, {0, 1});
  EXPECT_EQ(error_message([&] { running(model, starts_of(3), plan); }),
            "[search] 3 sentences for a model of 2 rows: it must be one row for each");
  ToyModel small = rising(2, {0});
  EXPECT_EQ(error_message([&] { running(small, starts_of(1), plan); }),
            "[search] the end token 2 is not among the model's 2 tokens");

  struct Wrong : ToyModel {
    using ToyModel::ToyModel;
    TokenScores step(std::span<const std::int32_t>) override { return zeros({2, 7}); }
  };
  Wrong wrong(8, {}, {0, 1});
  Lockstep lockstep = running(wrong, starts_of(2), plan);
  EXPECT_EQ(error_message([&] { lockstep.step(); }),
            "[search] the model gave scores [2, 7]: they must be [2, 8]");
}

TEST(Lockstep, ForcedTokensAreCertainAndCount) {
  ToyModel model = rising(8, {0, 1});
  SearchPlan plan = make_plan({.max_length = 1}, {});
  std::vector<Start> starts = starts_of(2);
  starts[1].forced = {3, 0};  // padding, which is banned, and more than max_length
  Lockstep lockstep = running(model, starts, plan, {.tokens = 2});
  EXPECT_EQ(lockstep.longest(0), 1);
  EXPECT_EQ(lockstep.longest(1), 2);
  lockstep.step();
  EXPECT_FALSE(lockstep.is_settled(0));
  EXPECT_TRUE(lockstep.is_settled(1));
  EXPECT_THAT(lockstep.likeliest(1), ElementsAre(3));
  EXPECT_EQ(lockstep.log_probability(1, 3), 0.0f);
  EXPECT_LT(lockstep.log_probability(0, 3), 0.0f);
  lockstep.advance(std::vector<Extension>{{1, 3}});
  lockstep.step();
  EXPECT_THAT(lockstep.likeliest(0), ElementsAre(0));
  lockstep.advance(std::vector<Extension>{{0, 0}});
  lockstep.step();
  EXPECT_THAT(lockstep.likeliest(0), ElementsAre(2));  // the end
  EXPECT_LT(lockstep.log_probability(0, 2), 0.0f);
  const Hypothesis ended = lockstep.finished({0, 2}, Finish::length);
  EXPECT_THAT(ended.tokens, ElementsAre(3, 0));
  EXPECT_EQ(ended.score, ended.log_probability / 3.0);
  starts[0].forced = {8};
  EXPECT_THAT(error_message([&] { running(model, {starts[0]}, plan); }),
              testing::HasSubstr("forced token 8 is not among the model's 8 tokens"));
}

TEST(Lockstep, AnEndAtTheMaximumLengthMayBeCertain) {
  ToyModel model = rising(8, {0});
  SearchPlan plan = make_plan({.max_length = 0}, {});
  for (const bool is_certain : {false, true}) {
    plan.is_end_certain = is_certain;
    Lockstep lockstep = running(model, starts_of(1), plan);
    lockstep.step();
    EXPECT_EQ(lockstep.log_probability(0, 2) == 0.0f, is_certain);
  }
}

TEST(Lockstep, RenormalisedProbabilitiesAreThoseOfAllowedTokens) {
  ToyModel model = rising(8, {0});
  SearchPlan plan = make_plan({}, {});
  plan.renormalised = true;
  Lockstep lockstep = running(model, starts_of(1), plan, {.tokens = 8});
  lockstep.step();
  EXPECT_THAT(lockstep.likeliest(0), ElementsAre(7, 6, 5, 4, 2));
  double total = 0.0;
  for (const std::int32_t token : lockstep.likeliest(0)) {
    total += std::exp(lockstep.log_probability(0, token));
  }
  EXPECT_NEAR(total, 1.0, 1e-6);
}

}  // namespace
}  // namespace heed
