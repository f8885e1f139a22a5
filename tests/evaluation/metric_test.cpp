// What metrics share; and real systems, those of newstest2017 English-German, beside sacreBLEU's
// scores.
#include "heed/evaluation/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/evaluation/bleu.h"
#include "heed/evaluation/chrf.h"
#include "heed/evaluation/resampling.h"
#include "heed/evaluation/score_files.h"
#include "heed/evaluation/ter.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"
#include "tests/support/score_golden.h"

namespace heed::evaluation {
namespace {

using testing::HasSubstr;

TEST(Metric, SumsSentences) {
  const Lines hypotheses = {"a b c d", "x"};
  const std::vector<Lines> references = {{"a b c e", "x"}};
  const Bleu bleu({.max_order = 1});
  const std::vector<Statistics> sentences = corpus_statistics(bleu, hypotheses, references);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_DOUBLE_EQ(total_score(bleu, sentences).value, 80);
  EXPECT_DOUBLE_EQ(corpus_score(bleu, hypotheses, references).value, 80);
}

TEST(Metric, RefusesUnequalFiles) {
  const Lines hypotheses = {"a", "b"};
  const std::vector<Lines> references = {{"a", "b"}, {"a"}};
  EXPECT_THAT(error_message([&] { corpus_score(Bleu(), hypotheses, references); }),
              HasSubstr("the translation has 2 lines, the reference has 1"));
  EXPECT_THAT(error_message([&] { corpus_score(Bleu(), hypotheses, {}); }),
              HasSubstr("no references"));
  EXPECT_THAT(error_message([&] { corpus_score(Bleu(), {}, references); }), HasSubstr("no lines"));
  EXPECT_THAT(error_message([&] { sentence_score(Bleu(), "a", {}); }), HasSubstr("no references"));
}

class Newstest : public testing::Test {
 protected:
  static std::filesystem::path path(const std::string& name) {
    return test::shared_data("newstest2017-en-de/" + name + ".gz");
  }
  static std::vector<Lines> references() { return {read_lines(path("reference"))}; }
};

TEST_F(Newstest, ScoresAreSacrebleus) {
  HEED_NEED_SHARED_DATA(path("reference"));
  const std::vector<Lines> reference = references();
  for (const auto& system : test::score_golden("newstest2017.json")["systems"].list()) {
    SCOPED_TRACE(system["name"].text());
    const Lines lines = read_lines(path(system["name"].text()));
    const auto expected = system["scores"];
    EXPECT_DOUBLE_EQ(corpus_score(Bleu(), lines, reference).value, expected["bleu"].number());
    EXPECT_DOUBLE_EQ(corpus_score(Chrf(), lines, reference).value, expected["chrf"].number());
    EXPECT_DOUBLE_EQ(corpus_score(Chrf({.word_order = 2}), lines, reference).value,
                     expected["chrf++"].number());
    EXPECT_DOUBLE_EQ(corpus_score(Ter(), lines, reference).value, expected["ter"].number());
  }
}

TEST_F(Newstest, ComparisonsAreSacrebleus) {
  HEED_NEED_SHARED_DATA(path("reference"));
  const Bleu bleu;
  const auto expected = test::score_golden("newstest2017.json")["paired"].list();
  std::vector<std::vector<Statistics>> systems;
  for (const auto& row : expected) {
    systems.push_back(corpus_statistics(bleu, read_lines(path(row["name"].text())), references()));
  }
  const std::vector<PairedResult> results = paired_bootstrap(bleu, systems, {});
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(expected[i]["name"].text());
    EXPECT_DOUBLE_EQ(results[i].confidence->mean, expected[i]["mean"].number());
    EXPECT_DOUBLE_EQ(results[i].confidence->half_width, expected[i]["ci"].number());
    if (i > 0) {
      EXPECT_DOUBLE_EQ(*results[i].p_value, expected[i]["p_value"].number());
    }
  }
}

}  // namespace
}  // namespace heed::evaluation
