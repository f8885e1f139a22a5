// chrF and chrF++: closed forms, and hostile lines beside sacreBLEU's scores.
#include "heed/evaluation/chrf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/evaluation/metric_case.h"
#include "tests/support/error_message.h"

namespace heed::evaluation::chrf_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ChrfOptions options_of(const test::GoldenValue& given) {
  ChrfOptions options;
  test::set_option(given, "char_order", options.char_order);
  test::set_option(given, "word_order", options.word_order);
  test::set_option(given, "beta", options.beta);
  test::set_option(given, "lowercase", options.lowercase);
  test::set_option(given, "whitespace", options.whitespace);
  test::set_option(given, "eps_smoothing", options.eps_smoothing);
  return options;
}

TEST(Chrf, IsSacrebleus) {
  const auto cases = test::score_golden("metrics.json")["chrf"].list();
  ASSERT_EQ(cases.size(), 9u);
  for (const auto& golden : cases) {
    test::check_metric(Chrf(options_of(golden["options"])), golden);
  }
}

TEST(Chrf, IsNamedByBetaAndWords) {
  EXPECT_EQ(Chrf().name(), "chrF2");
  EXPECT_EQ(Chrf({.word_order = 2}).name(), "chrF2++");
  EXPECT_EQ(Chrf({.word_order = 1, .beta = 3}).name(), "chrF3+");
}

TEST(Chrf, CountsCharactersAndWords) {
  const Lines reference = {"ab (cd)"};
  // Characters a b ( c d ) against a b x; words "ab", "(cd", ")" against "ab", "x".
  EXPECT_THAT(Chrf({.char_order = 2, .word_order = 1}).statistics("ab x", reference),
              ElementsAre(3, 6, 2, 2, 5, 1, 2, 3, 1));
  EXPECT_THAT(Chrf({.char_order = 1, .whitespace = true}).statistics("ab x", reference),
              ElementsAre(4, 7, 3));
  // What the reference is too short for counts on neither side.
  const Lines letter = {"a"};
  EXPECT_THAT(Chrf({.char_order = 2}).statistics("abc", letter), ElementsAre(3, 1, 1, 0, 0, 0));
}

TEST(Chrf, TakesTheBestReference) {
  const Lines references = {"xyz", "abd", "abc"};
  EXPECT_NEAR(sentence_score(Chrf(), "abc", references).value, 100, 1e-9);
}

TEST(Chrf, HasClosedForms) {
  const Lines reference = {"abcd"};
  // Precision 1, recall 1/2: 5 * 1/2 / (4 + 1/2).
  EXPECT_NEAR(sentence_score(Chrf({.char_order = 1}), "ab", reference).value, 100 * 2.5 / 4.5,
              1e-12);
  EXPECT_EQ(sentence_score(Chrf(), "", reference).value, 0);
  EXPECT_EQ(sentence_score(Chrf(), "xyz", reference).value, 0);
}

TEST(Chrf, ResamplesInSinglePrecision) {
  const float sums[] = {7, 9, 5};
  const Sample sample = Chrf({.char_order = 1, .beta = 1}).sample(sums);
  const float p = 5.0f / 7.0f, r = 5.0f / 9.0f;
  EXPECT_EQ(sample.value, 100.0f * (2.0f * p * r / (p + r)));
  EXPECT_TRUE(sample.single);
  const float nothing[] = {7, 9, 0};
  EXPECT_EQ(Chrf({.char_order = 1}).sample(nothing).value, 0);
  EXPECT_FALSE(Chrf({.char_order = 1}).sample(nothing).single);
}

TEST(Chrf, RefusesBadOptions) {
  EXPECT_THAT(error_message([] { Chrf({.char_order = 0}); }), HasSubstr("one must be 1 or more"));
  EXPECT_THAT(error_message([] { Chrf({.beta = 0}); }), HasSubstr("beta is 0"));
}

}  // namespace
}  // namespace heed::evaluation::chrf_test
