// TER: its normaliser and its scores beside sacreBLEU's, closed forms.
#include "heed/evaluation/ter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/text/unicode.h"
#include "tests/evaluation/metric_case.h"

namespace heed::evaluation::ter_test {
namespace {

using testing::ElementsAre;

TerOptions options_of(const test::GoldenValue& given) {
  TerOptions options;
  test::set_option(given, "normalized", options.normalized);
  test::set_option(given, "no_punct", options.no_punct);
  test::set_option(given, "asian_support", options.asian_support);
  test::set_option(given, "case_sensitive", options.case_sensitive);
  return options;
}

TEST(Ter, IsSacrebleus) {
  const auto cases = test::score_golden("metrics.json")["ter_scores"].list();
  ASSERT_EQ(cases.size(), 16u);
  for (const auto& golden : cases) {
    test::check_metric(Ter(options_of(golden["options"])), golden);
  }
}

TEST(Ter, NormalisesAsSacrebleu) {
  std::vector<std::string> texts;
  for (const auto& row : test::score_golden("metrics.json")["tokens"].list()) {
    if (row["tokenizer"].text() == "none") texts.push_back(row["text"].text());
  }
  for (const auto& golden : test::score_golden("metrics.json")["ter"].list()) {
    const std::vector<std::string> expected = golden["lines"].texts();
    ASSERT_EQ(expected.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(unicode::encode(ter_words(texts[i], options_of(golden["options"]))), expected[i]);
    }
  }
}

TEST(Ter, TakesTheFewestEditsAndTheMeanLength) {
  const Lines references = {"a b c d", "a b", "x y z"};
  EXPECT_THAT(Ter().statistics("a b c", references), ElementsAre(1, 3));
}

TEST(Ter, CountsAShiftOnce) {
  const Lines reference = {"c d a b"};
  EXPECT_DOUBLE_EQ(sentence_score(Ter(), "a b c d", reference).value, 25);
}

TEST(Ter, OfEmptyReferences) {
  const Lines empty = {""};
  EXPECT_EQ(sentence_score(Ter(), "a b", empty).value, 100);
  EXPECT_EQ(sentence_score(Ter(), "", empty).value, 0);
}

TEST(Ter, ResamplesInSinglePrecision) {
  const float sums[] = {1, 3};
  EXPECT_EQ(Ter().sample(sums).value, 100.0f * (1.0f / 3.0f));
  EXPECT_TRUE(Ter().sample(sums).single);
  const float empty[] = {1, 0};
  EXPECT_EQ(Ter().sample(empty).value, 100);
  EXPECT_FALSE(Ter().sample(empty).single);
}

}  // namespace
}  // namespace heed::evaluation::ter_test
