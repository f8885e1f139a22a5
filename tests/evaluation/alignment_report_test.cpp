// Alignment scores in words.
#include "heed/evaluation/alignment_report.h"

#include <gtest/gtest.h>

namespace heed::evaluation {
namespace {

TEST(AlignmentReport, IsInPercent) {
  const AlignmentScore score{
      .error_rate = 0.25, .precision = 0.5, .recall = 1, .links = 3, .sure = 2, .possible = 4};
  EXPECT_EQ(report_line(score, 1),
            "AER = 25.0 (precision = 50.0 recall = 100.0 links = 3 sure = 2 possible = 4)");
  EXPECT_EQ(report_json(score, 2),
            "{\n \"name\": \"AER\",\n \"score\": 25.00,\n \"precision\": 50.00,\n"
            " \"recall\": 100.00,\n \"links\": 3,\n \"sure\": 2,\n \"possible\": 4\n}\n");
}

}  // namespace
}  // namespace heed::evaluation
