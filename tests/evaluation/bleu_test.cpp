// BLEU: closed forms, the smoothings, and hostile lines beside sacreBLEU's scores.
#include "heed/evaluation/bleu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/evaluation/metric_case.h"
#include "tests/support/error_message.h"

namespace heed::evaluation::bleu_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename E>
E named(const std::string& name) {
  for (const auto& entry : enum_names(E{})) {
    if (entry.name == name) return entry.value;
  }
  throw Error("no such name: " + name);
}

BleuOptions options_of(const test::GoldenValue& given) {
  BleuOptions options;
  if (given.has("tokenize")) options.tokenizer = named<BleuTokenizer>(given["tokenize"].text());
  if (given.has("smooth_method"))
    options.smoothing = named<Smoothing>(given["smooth_method"].text());
  if (given.has("smooth_value")) options.smooth_value = given["smooth_value"].number();
  test::set_option(given, "lowercase", options.lowercase);
  test::set_option(given, "max_ngram_order", options.max_order);
  test::set_option(given, "effective_order", options.effective_order);
  return options;
}

TEST(Bleu, IsSacrebleus) {
  const auto cases = test::score_golden("metrics.json")["bleu"].list();
  ASSERT_EQ(cases.size(), 35u);
  for (const auto& golden : cases) {
    test::check_metric(Bleu(options_of(golden["options"])), golden);
  }
}

TEST(Bleu, CountsWhatMatches) {
  const Lines references = {"the cat is on the mat", "there is a cat on the mat"};
  // Papineni's example: of seven words "the" two count, since no reference has more; the nearest
  // reference has seven words.
  EXPECT_THAT(Bleu().statistics("the the the the the the the", references),
              ElementsAre(7, 7, 2, 0, 0, 0, 7, 6, 5, 4));
  EXPECT_THAT(Bleu({.max_order = 2}).statistics("cat on the mat", references),
              ElementsAre(4, 6, 4, 3, 4, 3));
  EXPECT_THAT(Bleu({.max_order = 1}).statistics("", references), ElementsAre(0, 6, 0, 0));
}

TEST(Bleu, OfEqualDistancesTakesTheShorterReference) {
  const Lines references = {"a b c d e", "a"};
  EXPECT_EQ(Bleu().statistics("a b c", references)[1], 1);
}

TEST(Bleu, HasClosedForms) {
  const auto score = [](const BleuOptions& options, const std::string& hypothesis) {
    const Lines reference = {"a b c d e f"};
    return sentence_score(Bleu(options), hypothesis, reference).value;
  };
  EXPECT_NEAR(score({}, "a b c d e f"), 100, 1e-12);
  EXPECT_EQ(score({}, "x y z"), 0);
  EXPECT_EQ(score({}, ""), 0);
  // Half as long: brevity penalty e^(1 - 2).
  EXPECT_NEAR(score({.max_order = 2}, "a b c"), 100 * std::exp(-1), 1e-12);
  // One of two words, no pair: exp gives half a match of 1, floor a tenth, add-k (0 + 1) / (1 + 1).
  const double penalty = std::exp(1 - 6.0 / 2);
  EXPECT_NEAR(score({.max_order = 2}, "a x"), 100 * penalty * std::sqrt(0.5 * 0.5), 1e-12);
  EXPECT_NEAR(score({.smoothing = Smoothing::floor, .max_order = 2}, "a x"),
              100 * penalty * std::sqrt(0.5 * 0.1), 1e-12);
  EXPECT_NEAR(score({.smoothing = Smoothing::add_k, .max_order = 2}, "a x"),
              100 * penalty * std::sqrt(0.5 * 0.5), 1e-12);
  EXPECT_EQ(score({.smoothing = Smoothing::none, .max_order = 2}, "a x"), 0);
  // Three words have no 4-grams: the effective order is 3.
  EXPECT_NEAR(score({.effective_order = true}, "a b c"), 100 * std::exp(-1), 1e-12);
}

TEST(Bleu, ResamplesInSinglePrecision) {
  const Bleu bleu({.max_order = 1});
  const float third[] = {3, 3, 1, 3};
  EXPECT_EQ(bleu.sample(third).value, std::exp(std::log(static_cast<double>(100.0f / 3.0f))));
  EXPECT_FALSE(bleu.sample(third).single);
  const float nothing[] = {3, 3, 0, 3};
  EXPECT_EQ(bleu.sample(nothing).value, 0);
}

TEST(Bleu, RefusesBadOptions) {
  EXPECT_THAT(error_message([] { Bleu({.max_order = 0}); }),
              HasSubstr("order 0: must be 1 or more"));
  EXPECT_THAT(error_message([] { Bleu({.smooth_value = 0.5}); }),
              HasSubstr("'exp' takes no value"));
}

}  // namespace
}  // namespace heed::evaluation::bleu_test
