// The table of IBM model 1: a case that is known by hand, empty sources, limits.
#include "heed/data/lexicon.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/error_message.h"

namespace heed::lexicon_test {
namespace {

using Row = std::vector<std::int32_t>;

// das Haus / the house, das Buch / the book, ein Buch / a book.
constexpr std::int32_t kDas = 10, kHaus = 11, kBuch = 12, kEin = 13;
constexpr std::int32_t kThe = 20, kHouse = 21, kBook = 22, kA = 23;

ParallelCorpus three_pairs() {
  ParallelCorpus corpus({}, {.end_source = false});
  corpus.add(Row{kDas, kHaus}, Row{kThe, kHouse});
  corpus.add(Row{kDas, kBuch}, Row{kThe, kBook});
  corpus.add(Row{kEin, kBuch}, Row{kA, kBook});
  return corpus;
}

std::map<std::pair<std::int32_t, std::int32_t>, double> table(const ParallelCorpus& corpus,
                                                              const LexiconOptions& options) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> found;
  for (const auto& [source, target, probability] : estimate_lexicon(corpus, options)) {
    EXPECT_TRUE(found.emplace(std::pair{source, target}, probability).second);
  }
  return found;
}

// The plain form of one iteration from uniform probabilities, worked out by hand: the empty word
// and "das" have three and two or three targets.
TEST(Lexicon, OneIterationByHand) {
  const auto found = table(three_pairs(), {.iterations = 1, .min_probability = 0.0});
  // Uniform: empty 1/4, das 1/3 (the, house, book), Haus 1/2, Buch 1/3, ein 1/2.
  const double with_haus = 1.0 / 4 + 1.0 / 3 + 1.0 / 2;  // the sum for a target of pair 1
  const double with_buch = 1.0 / 4 + 1.0 / 3 + 1.0 / 3;  // of pair 2
  const double the = 1.0 / 3 / with_haus + 1.0 / 3 / with_buch;
  const double house = 1.0 / 3 / with_haus, book = 1.0 / 3 / with_buch;
  EXPECT_NEAR(found.at({kDas, kThe}), the / (the + house + book), 1e-12);
  EXPECT_NEAR(found.at({kDas, kBook}), book / (the + house + book), 1e-12);
  EXPECT_NEAR(found.at({kHaus, kHouse}), 0.5, 1e-12);
  EXPECT_FALSE(found.contains({kHaus, kBook}));
}

TEST(Lexicon, FindsTheTranslations) {
  const auto found = table(three_pairs(), {.iterations = 50});
  for (const auto& [source, target] :
       {std::pair{kDas, kThe}, {kHaus, kHouse}, {kBuch, kBook}, {kEin, kA}}) {
    EXPECT_GT(found.at({source, target}), 0.9);
  }
}

TEST(Lexicon, KeepsTheBestInOrder) {
  ParallelCorpus corpus({}, {.end_source = false});
  for (const std::int32_t target : {30, 31, 31, 32, 32, 32}) corpus.add(Row{5}, Row{target});
  const std::vector<LexicalEntry> found = estimate_lexicon(corpus, {.best = 2});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].target, 32);
  EXPECT_NEAR(found[0].probability, 0.5, 1e-12);
  EXPECT_EQ(found[1].target, 31);
  EXPECT_EQ(estimate_lexicon(corpus, {.min_probability = 0.4}).size(), 1u);
  EXPECT_TRUE(estimate_lexicon(ParallelCorpus({}, {})).empty());
}

TEST(Lexicon, NamesLimits) {
  EXPECT_NE(error_message([] { estimate_lexicon(three_pairs(), {.best = 0}); }).find("best"),
            std::string::npos);
}

}  // namespace
}  // namespace heed::lexicon_test
