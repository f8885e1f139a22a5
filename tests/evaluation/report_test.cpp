// Reports of one system. Whole outputs of the program beside sacreBLEU's are tests of the program.
#include "heed/evaluation/report.h"

#include <gtest/gtest.h>

#include "heed/evaluation/bleu.h"
#include "heed/evaluation/chrf.h"
#include "heed/evaluation/ter.h"
#include "tests/support/score_golden.h"

namespace heed::evaluation {
namespace {

// The files of tests/golden/score/all.txt: first translation, first reference.
std::vector<Reported> hostile_reports() {
  const auto columns = test::hostile_columns();
  const std::vector<Lines> references = {columns[2]};
  const Bleu bleu;
  const Chrf chrf;
  const Ter ter;
  std::vector<Reported> all;
  for (const Metric* const metric :
       {static_cast<const Metric*>(&bleu), static_cast<const Metric*>(&chrf),
        static_cast<const Metric*>(&ter)}) {
    all.push_back({corpus_score(*metric, columns[0], references), {.metric = metric->signature()}});
  }
  return all;
}

TEST(Report, IsSacrebleus) {
  const std::vector<Reported> all = hostile_reports();
  EXPECT_EQ(report_lines(all, {}), test::score_golden_text("all.txt"));
  EXPECT_EQ(report_json(std::span(all).first(1), {}), test::score_golden_text("bleu.json"));
  EXPECT_EQ(report_json(std::span(all).first(1), {.digits = 4, .score_only = true}),
            test::score_golden_text("score_only.txt"));
}

TEST(Report, ShowsConfidence) {
  const Reported reported{
      {"TER", 12.345, ""}, {.bootstrap_trials = 100, .seed = 3}, Confidence{12.5, 0.25}};
  const std::string signature = "nrefs:1|bs:100|seed:3|version:" + std::string(kSacrebleuVersion);
  EXPECT_EQ(report_line(reported, {.digits = 2}),
            "TER|" + signature + " = 12.35 (μ = 12.50 ± 0.25)");
  EXPECT_EQ(report_line(reported, {.score_only = true}), "12.3 (μ = 12.5 ± 0.2)");
  EXPECT_EQ(report_line(reported, {.score_only = true, .colour = true}),
            "12.3 \x1b[36m(μ = 12.5 ± 0.2)\x1b[0m");
  EXPECT_EQ(report_json(std::span(&reported, 1), {.digits = 0}),
            "{\n \"name\": \"TER\",\n \"score\": 12.0,\n \"signature\": \"" + signature +
                "\",\n \"confidence_mean\": 12.0,\n \"confidence_var\": 0.0,\n"
                " \"confidence\": \"μ = 12 ± 0\",\n \"nrefs\": \"1\",\n \"bs\": \"100\",\n"
                " \"seed\": \"3\",\n \"version\": \"" +
                std::string(kSacrebleuVersion) + "\"\n}\n");
}

TEST(Report, AMeanOfNothingIsNotShown) {
  const Reported reported{{"BLEU", 0, ""}, {}, Confidence{0, 0}};
  EXPECT_EQ(report_line(reported, {.score_only = true}), "0.0");
}

}  // namespace
}  // namespace heed::evaluation
