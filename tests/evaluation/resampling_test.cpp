// Intervals and p-values, beside sacreBLEU's.
#include "heed/evaluation/resampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "heed/evaluation/bleu.h"
#include "heed/evaluation/chrf.h"
#include "heed/evaluation/ter.h"
#include "tests/support/error_message.h"
#include "tests/support/score_golden.h"

namespace heed::evaluation {
namespace {

using testing::HasSubstr;

std::unique_ptr<Metric> metric_named(const std::string& name) {
  if (name == "BLEU") return std::make_unique<Bleu>();
  if (name == "CHRF") return std::make_unique<Chrf>();
  return std::make_unique<Ter>();
}

std::vector<std::vector<Statistics>> hostile_statistics(const Metric& metric) {
  const auto columns = test::hostile_columns();
  const std::vector<Lines> references(columns.begin() + 2, columns.end());
  std::vector<std::vector<Statistics>> systems;
  systems.push_back(corpus_statistics(metric, columns[0], references));
  systems.push_back(corpus_statistics(metric, columns[1], references));
  return systems;
}

void expect_number(const std::optional<double>& number, const test::GoldenValue& golden) {
  ASSERT_EQ(number.has_value(), !golden.is_null());
  if (number) {
    EXPECT_DOUBLE_EQ(*number, golden.number());
  }
}

TEST(Resampling, IsSacrebleus) {
  const auto rows = test::score_golden("resampling.json")["paired"].list();
  ASSERT_EQ(rows.size(), 6u);
  for (const auto& row : rows) {
    SCOPED_TRACE(row["kind"].text() + " " + row["metric"].text());
    const std::unique_ptr<Metric> metric = metric_named(row["metric"].text());
    const auto systems = hostile_statistics(*metric);
    const Trials trials{.count = row["trials"].integer()};
    const Confidence confidence = bootstrap(*metric, systems[0], trials);
    EXPECT_DOUBLE_EQ(confidence.mean, row["mean"].number());
    EXPECT_DOUBLE_EQ(confidence.half_width, row["ci"].number());

    const bool resampled = row["kind"].text() == "bs";
    const std::vector<PairedResult> results = resampled
                                                  ? paired_bootstrap(*metric, systems, trials)
                                                  : paired_randomisation(*metric, systems, trials);
    const auto expected = row["results"].list();
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_DOUBLE_EQ(results[i].score, expected[i]["score"].number());
      expect_number(results[i].p_value, expected[i]["p_value"]);
      ASSERT_EQ(results[i].confidence.has_value(), resampled);
      if (!resampled) continue;
      expect_number(results[i].confidence->mean, expected[i]["mean"]);
      expect_number(results[i].confidence->half_width, expected[i]["ci"]);
    }
  }
}

TEST(Resampling, ASystemDoesNotDifferFromItself) {
  const Bleu bleu;
  auto systems = hostile_statistics(bleu);
  systems[1] = systems[0];
  // No difference is larger than none, and the one seen counts: 1 of 101.
  EXPECT_DOUBLE_EQ(*paired_bootstrap(bleu, systems, {.count = 100})[1].p_value, 1.0 / 101);
  EXPECT_DOUBLE_EQ(*paired_randomisation(bleu, systems, {.count = 100})[1].p_value, 1.0 / 101);
}

TEST(Resampling, OneSentenceHasNoWidth) {
  const Bleu bleu;
  const Lines reference = {"a b c d"};
  const std::vector<Statistics> sentences = {bleu.statistics("a b c d", reference)};
  EXPECT_EQ(bootstrap(bleu, sentences, {.count = 50}).half_width, 0);
}

TEST(Resampling, RefusesNothingToDo) {
  const Bleu bleu;
  const auto systems = hostile_statistics(bleu);
  EXPECT_THAT(error_message([&] { bootstrap(bleu, systems[0], {.count = 0}); }),
              HasSubstr("0 trials: must be 1 or more"));
  EXPECT_THAT(error_message([&] { bootstrap(bleu, {}, {}); }), HasSubstr("0 sentences"));
  EXPECT_THAT(error_message([&] { paired_bootstrap(bleu, std::span(systems).first(1), {}); }),
              HasSubstr("two systems or more: there is 1"));
}

}  // namespace
}  // namespace heed::evaluation
