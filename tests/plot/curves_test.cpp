#include "heed/plot/curves.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/training/curves.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::plot {
namespace {

using testing::HasSubstr;
using testing::Not;

TrainingRun run(const std::string& name, std::int64_t updates) {
  TrainingRun made{
      .name = name, .training = {}, .validation = {{"loss", {}}, {"perplexity", {}}, {"bleu", {}}}};
  for (std::int64_t i = 1; i <= updates; ++i) {
    const auto x = static_cast<double>(i);
    made.training.push_back({x, 2.0 + 5.0 / x});
    if (i % 100 != 0) continue;
    made.validation[0].points.push_back({x, 2.5 + 5.0 / x});
    made.validation[1].points.push_back({x, 80.0});
    made.validation[2].points.push_back({x, 20.0 + x / 100});
  }
  return made;
}

std::int64_t times(const std::string& text, const std::string& part) {
  std::int64_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(CurvesPicture, OneRunNeedsNoName) {
  const std::string svg = curves_svg({run("fast", 1000)});
  for (const char* const text :
       {"training", "validation", "loss", "BLEU of validation", "updates"}) {
    EXPECT_THAT(svg, HasSubstr(fmt::format(">{}</text>", text)));
  }
  EXPECT_THAT(svg, Not(HasSubstr(">fast</text>")));
  EXPECT_THAT(svg, Not(HasSubstr("perplexity")));
  EXPECT_EQ(times(svg, "<polyline"), 3) << "loss of training and validation, BLEU";
}

TEST(CurvesPicture, RunsAreNamed) {
  TrainingRun plain = run("plain", 300);
  plain.validation.clear();
  const std::string svg = curves_svg({run("fast", 1000), plain});
  EXPECT_THAT(svg, HasSubstr(">fast, training</text>"));
  EXPECT_THAT(svg, HasSubstr(">plain, training</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">plain, validation</text>")));
}

// Neighbours become one point: the picture of a long run is hardly larger.
TEST(CurvesPicture, LongRunsAreThinned) {
  const auto size = [](std::int64_t updates, bool log_updates) {
    TrainingRun made = run("a", updates);
    made.validation.clear();
    return curves_svg({made}, log_updates).size();
  };
  EXPECT_LT(size(50000, false), 1.2 * static_cast<double>(size(240, false)));
  EXPECT_LT(size(50000, true), size(50000, false)) << "few at the left";
}

TEST(CurvesPicture, NothingToDraw) {
  const TrainingRun nothing{.name = "a", .training = {}, .validation = {}};
  EXPECT_THAT(error_message([&] { curves_svg({nothing}); }),
              HasSubstr("these curves have no updates"));
}

TEST(Curves, AreReadFromTheFolderOfARun) {
  const TempDir folder;
  CurveWriter writer(folder / "small");
  std::filesystem::create_directories(folder / "small");
  writer.began(0);
  writer.updated({.update = 1, .loss = 3.0, .negative_log_likelihood = 2.5});
  writer.updated({.update = 2, .loss = 2.0, .negative_log_likelihood = 1.5});
  writer.validated({.update = 2, .judgements = {{"bleu", 30.0, true}}});
  const TrainingRun read = read_run(folder / "small/");
  EXPECT_EQ(read.name, "small");
  ASSERT_EQ(read.training.size(), 2u);
  EXPECT_EQ(read.training[1].x, 2.0);
  EXPECT_NEAR(read.training[1].y, 1.5, 1e-5);  // written as a perplexity
  ASSERT_EQ(read.validation.size(), 1u);
  EXPECT_EQ(read.validation[0].metric, "bleu");
  EXPECT_EQ(read.validation[0].points[0].y, 30.0);
}

}  // namespace
}  // namespace heed::plot
