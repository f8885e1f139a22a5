// Reports of several systems. Whole outputs of the program beside sacreBLEU's are tests of the
// program.
#include "heed/evaluation/systems_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::evaluation {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

SystemsReport two_systems(Comparison comparison) {
  SystemsReport report{{"Baseline: a", "b"}, {{"BLEU", {}, {}}}, comparison, 100};
  PairedResult first{.score = 27.5}, second{.score = 26.25};
  if (comparison != Comparison::none) second.p_value = 0.0625;
  if (comparison == Comparison::bootstrap) {
    first.confidence = Confidence{27.25, 0.5};
    second.confidence = Confidence{26.0, 0.75};
  }
  report.columns[0].results = {first, second};
  return report;
}

TEST(SystemsReport, HasATable) {
  EXPECT_THAT(systems_text(two_systems(Comparison::bootstrap), {.digits = 2}),
              StartsWith("╒═════════════╤══════════════════════╕\n"
                         "│      System │  BLEU (μ ± 95% CI)   │\n"
                         "╞═════════════╪══════════════════════╡\n"
                         "│ Baseline: a │ 27.50 (27.25 ± 0.50) │\n"
                         "├─────────────┼──────────────────────┤\n"
                         "│           b │ 26.25 (26.00 ± 0.75) │\n"
                         "│             │     (p = 0.0625)     │\n"
                         "╘═════════════╧══════════════════════╛\n\n"));
}

TEST(SystemsReport, ExplainsAComparison) {
  const std::string resampled = systems_text(two_systems(Comparison::bootstrap), {});
  EXPECT_THAT(resampled, HasSubstr("Paired bootstrap resampling test with 100 resampling trials"));
  EXPECT_THAT(resampled, HasSubstr(" - BLEU       nrefs:1|version:"));
  EXPECT_THAT(systems_text(two_systems(Comparison::randomisation), {}),
              HasSubstr("Paired approximate randomization test with 100 trials"));
  EXPECT_THAT(systems_text(two_systems(Comparison::none), {}), Not(HasSubstr("Paired")));
}

TEST(SystemsReport, MarksSmallP) {
  SystemsReport report = two_systems(Comparison::randomisation);
  const ReportStyle colour{.colour = true};
  EXPECT_THAT(systems_text(report, colour), HasSubstr("\x1b[31m(p = 0.0625)\x1b[0m"));
  report.columns[0].results[1].p_value = 0.05;
  EXPECT_THAT(systems_text(report, colour), HasSubstr("(p = 0.0500)*"));
  EXPECT_THAT(systems_latex(report, {}), HasSubstr("26.2 (p = 0.0500)*"));
}

TEST(SystemsReport, IsJson) {
  EXPECT_EQ(systems_json(two_systems(Comparison::none), {}),
            "[\n    {\n        \"system\": \"Baseline: a\",\n        \"BLEU\": \"27.5\"\n    },\n"
            "    {\n        \"system\": \"b\",\n        \"BLEU\": \"26.2\"\n    }\n]\n");
  EXPECT_THAT(systems_json(two_systems(Comparison::randomisation), {}),
              HasSubstr("        \"BLEU\": {\n            \"score\": 26.25,\n"
                        "            \"p_value\": 0.0625,\n            \"mean\": null,\n"
                        "            \"ci\": null\n        }\n"));
}

}  // namespace
}  // namespace heed::evaluation
