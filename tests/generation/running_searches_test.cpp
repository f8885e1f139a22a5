// Searches of different kinds that run together: each finds what it finds alone, whenever it joins.
#include "heed/generation/running_searches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/search.h"
#include "tests/generation/toy_model.h"
#include "tests/support/error_message.h"

namespace heed::running_searches_test {
namespace {

using test::HashScores;
using test::ToyModel;

const HashScores kScores{.vocabulary = 9, .seed = 3, .end_bonus = 0.5f};

// One of every kind.
std::vector<SearchSentence> sentences() {
  const auto plan_of = [](const SearchOptions& options) {
    return std::make_shared<SearchPlan>(make_plan(options, {}));
  };
  SearchOptions greedy{.beam_size = 1, .max_length = 12};
  SearchOptions repeating = greedy;
  repeating.repetition_penalty = 1.7;
  SearchOptions beam{.beam_size = 3, .n_best = 2, .max_length = 9};
  SearchOptions penalised = beam;
  penalised.presence_penalty = 0.4;
  SearchOptions sampling{.method = SearchMethod::sample, .n_best = 3, .max_length = 7};
  SearchOptions cut = sampling;
  cut.top_k = 2;
  auto renormalised = plan_of(beam);
  renormalised->renormalised = true;
  auto stopping = plan_of(greedy);
  stopping->stop = [](std::span<const std::int32_t> tokens) { return tokens.size() == 4; };
  const Start prefixed{.source_length = 4, .forced = {5, 6}};
  std::vector<SearchSentence> all = {{.plan = plan_of(greedy)},
                                     {.plan = plan_of(beam)},
                                     {.plan = plan_of(sampling)},
                                     {.plan = plan_of(repeating)},
                                     {.plan = renormalised},
                                     {.plan = plan_of(penalised)},
                                     {.start = prefixed, .plan = plan_of(beam)},
                                     {.plan = plan_of(cut)},
                                     {.start = prefixed, .plan = plan_of(greedy)},
                                     {.plan = stopping}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].number = static_cast<std::int64_t>(i);
    all[i].start.stream = i;
    if (all[i].start.forced.empty()) all[i].start.source_length = 3 * static_cast<int>(i % 4);
  }
  return all;
}

NBest alone(const SearchSentence& sentence) {
  ToyModel model(kScores, {sentence.number});
  return search(model, {&sentence.start, 1}, *sentence.plan)[0];
}

TEST(RunningSearches, SentencesJoinAtAnyStep) {
  const std::vector<SearchSentence> all = sentences();
  for (const std::size_t every : {0, 1, 2, 5}) {  // steps between two that join
    ToyModel model(kScores, {});
    RunningSearches searches(model, make_search);
    std::vector<NBest> found(all.size());
    std::size_t joined = 0;
    for (std::size_t step = 0; joined < all.size() || searches.rows() > 0; ++step) {
      if (searches.rows() == 0) model.reorder({});  // what is left of those that ended
      while (joined < all.size() && joined * every <= step) {
        model.add(all[joined].number);
        searches.join({&all[joined++], 1});
      }
      if (searches.rows() == 0) continue;
      for (SearchResult& done : searches.step()) {
        found[static_cast<std::size_t>(done.number)] = std::move(done.found);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      test::expect_same(found[i], alone(all[i]), fmt::format("sentence {}, every {}", i, every));
      EXPECT_FALSE(found[i].empty());
    }
  }
}

TEST(RunningSearches, AnErrorConcernsOneSentence) {
  const test::Scorer broken = [](std::int64_t sentence, const test::Tokens& fed) {
    std::vector<float> scores = kScores(sentence, fed);
    if (sentence == 1) scores[4] = std::nanf("");
    return scores;
  };
  ToyModel model(kScores.vocabulary, broken, {0, 1});
  RunningSearches searches(model, make_search);
  const auto plan = std::make_shared<SearchPlan>(make_plan({.beam_size = 1, .max_length = 5}, {}));
  std::vector<SearchSentence> two = {{.number = 0, .plan = plan}, {.number = 1, .plan = plan}};
  searches.join(two);
  int errors = 0, results = 0;
  while (searches.rows() > 0) {
    for (const SearchResult& done : searches.step()) {
      if (!done.error) {
        ++results;
        test::expect_same(done.found, alone(two[0]), "the other one");
        continue;
      }
      ++errors;
      EXPECT_EQ(done.number, 1);
      EXPECT_THAT(error_message([&] { std::rethrow_exception(done.error); }),
                  testing::HasSubstr("sentence 1, token 0: the model's scores hold NaN"));
    }
  }
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(results, 1);
}

TEST(RunningSearches, ASentenceLeavesWithAllItsSequences) {
  ToyModel model(kScores, {0, 1});
  RunningSearches searches(model, make_search);
  const auto plan = std::make_shared<SearchPlan>(make_plan({.beam_size = 3}, {}));
  std::vector<SearchSentence> two = {{.number = 0, .plan = plan}, {.number = 1, .plan = plan}};
  for (SearchSentence& sentence : two) sentence.start.source_length = 9;
  searches.join(two);
  searches.step();
  searches.step();
  ASSERT_GT(searches.rows(), 3);
  EXPECT_EQ(searches.sequence_of(1).so_far.tokens.size(), 2u);
  searches.leave(0);
  EXPECT_LE(searches.rows(), 3);
  NBest found;
  while (searches.rows() > 0) {
    for (SearchResult& done : searches.step()) {
      EXPECT_EQ(done.number, 1);
      found = std::move(done.found);
    }
  }
  test::expect_same(found, alone(two[1]), "the one that stayed");
}

}  // namespace
}  // namespace heed::running_searches_test
