#include "heed/plot/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/plot/table.h"

namespace heed::plot {
namespace {

using testing::HasSubstr;
using testing::Not;

const ProgressLine kLine{.title = "epoch 2.50",
                         .share = 0.5,
                         .parts = {"50/100", "loss 3.1", "ppl 22.2", "900 tok/s"},
                         .time = "1:05 left"};

TEST(ProgressLine, ABarWhereThereIsRoom) {
  const std::string wide = progress_text(kLine, 200);
  EXPECT_EQ(
      wide,
      "epoch 2.50  ━━━━━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌  50 %  50/100  loss 3.1  ppl 22.2  900 tok/s  "
      "1:05 left");
  const std::string narrower = progress_text(kLine, 80);
  EXPECT_EQ(characters(narrower), 80) << "the bar takes what is left";
  EXPECT_THAT(narrower, HasSubstr("━"));
}

TEST(ProgressLine, FitsAnyWidth) {
  for (std::int64_t columns = 0; columns < 120; ++columns) {
    EXPECT_LE(characters(progress_text(kLine, columns)), columns);
  }
  EXPECT_EQ(progress_text(kLine, 60),
            "epoch 2.50  50/100  loss 3.1  ppl 22.2  900 tok/s  1:05 left");
  EXPECT_EQ(progress_text(kLine, 40), "epoch 2.50  50/100  loss 3.1  1:05 left");
  EXPECT_EQ(progress_text(kLine, 5), "epoch");
  EXPECT_EQ(progress_text({.title = "进度条"}, 2), "进度");
}

TEST(ProgressLine, WithoutAnEndNoBar) {
  ProgressLine line = kLine;
  line.share.reset();
  EXPECT_THAT(progress_text(line, 200), Not(HasSubstr("%")));
}

TEST(ProgressLine, SharesBeyondTheEnd) {
  EXPECT_THAT(progress_text({.title = "t", .share = 1.7}, 60), HasSubstr("100 %"));
  EXPECT_THAT(progress_text({.title = "t", .share = -1}, 60), HasSubstr("  0 %"));
  EXPECT_THAT(progress_text({.title = "t", .share = 0.999}, 60), HasSubstr(" 99 %"));
  EXPECT_THAT(progress_text({.title = "t", .share = std::nan("")}, 60), HasSubstr("  0 %"));
}

TEST(ProgressLine, Durations) {
  EXPECT_EQ(duration_text(0.2), "0 s");
  EXPECT_EQ(duration_text(59.6), "1:00");
  EXPECT_EQ(duration_text(187), "3:07");
  EXPECT_EQ(duration_text(8100), "2:15:00");
  EXPECT_EQ(duration_text(3 * 86400 + 4.5 * 3600), "3 d 4 h");
  EXPECT_EQ(duration_text(-5), "0 s");
  EXPECT_EQ(duration_text(std::nan("")), "?");
  EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), "?");
}

}  // namespace
}  // namespace heed::plot
