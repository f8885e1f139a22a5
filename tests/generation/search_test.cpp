// The options choose the search.
#include "heed/generation/search.h"

#include <gtest/gtest.h>

#include "heed/generation/beam.h"
#include "heed/generation/greedy.h"
#include "heed/generation/sample.h"
#include "tests/generation/toy_model.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::expect_same;
using test::first_sentences;
using test::HashScores;
using test::starts_of;
using test::ToyModel;

using Find = std::vector<NBest> (*)(StepModel&, std::span<const Start>, const SearchPlan&);

std::vector<NBest> found_by(Find find, const SearchOptions& options) {
  ToyModel model(HashScores{.vocabulary = 9, .seed = 3, .scale = 0.5f}, first_sentences(4));
  return find(model, starts_of(4), make_plan(options, {}));
}

TEST(Search, IsTheOneThatTheOptionsName) {
  const SearchOptions beam{.beam_size = 4, .n_best = 2}, greedy{.beam_size = 1},
      random{.method = SearchMethod::sample, .n_best = 2};
  const std::pair<Find, SearchOptions> cases[] = {
      {beam_search, beam}, {greedy_search, greedy}, {sample, random}};
  for (const auto& [find, options] : cases) {
    const std::vector<NBest> by_name = found_by(search, options),
                             directly = found_by(find, options);
    for (std::size_t i = 0; i < 4; ++i) expect_same(by_name[i], directly[i], "search");
  }
  const auto differ = [](const std::vector<NBest>& a, const std::vector<NBest>& b) {
    return !std::equal(a.begin(), a.end(), b.begin(), [](const NBest& x, const NBest& y) {
      return x.at(0).tokens == y.at(0).tokens;
    });
  };
  EXPECT_TRUE(differ(found_by(search, beam), found_by(search, random)));
  EXPECT_TRUE(differ(found_by(search, beam), found_by(search, greedy)));
  EXPECT_TRUE(differ(found_by(search, random), found_by(search, greedy)));
}

TEST(Search, ChecksOptionsChangedAfterThePlanWasMade) {
  ToyModel model(HashScores{}, {0});
  SearchPlan plan = make_plan({}, {});
  plan.options.temperature = -1.0;
  EXPECT_NE(error_message([&] { search(model, starts_of(1), plan); }), "(no error)");
}

}  // namespace
}  // namespace heed
