#include "heed/plot/table.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

const Table kTable{.title = "Costs",
                   .header = {"layer", "cost", "n = 8"},
                   .rows = {{"self-attention", "n² d", "1"}, {"GRU", "n d²", "128"}},
                   .words = 2};

TEST(Table, ColumnsAreAlignedByCharacters) {
  EXPECT_EQ(table_text(kTable),
            "Costs\n"
            "layer           cost  n = 8\n"
            "self-attention  n² d      1\n"
            "GRU             n d²    128\n");
}

TEST(Table, NoSpacesBehindALine) {
  EXPECT_EQ(table_text({.header = {"a", "long heading"}, .rows = {{"x", ""}}, .words = 2}),
            "a  long heading\nx\n");
}

TEST(Table, IsDrawnWithinTheRoomItSays) {
  Svg svg(500, 200, "a table");
  const Box room = draw_table(svg, kTable, {10, 20});
  EXPECT_EQ(room.x, 10);
  EXPECT_EQ(room.y, 20);
  EXPECT_EQ(room.height, 24 + 20 + 3 + 2 * 20);
  EXPECT_GT(room.width, 100);
  const std::string text = svg.finish();
  for (const char* const word : {"Costs", "self-attention", "n² d", "128"}) {
    EXPECT_THAT(text, testing::HasSubstr(fmt::format(">{}<", word)));
  }
}

TEST(Table, RowsMustFitTheHeader) {
  EXPECT_THAT(error_message([] {
                table_text({.header = {"a", "b"}, .rows = {{"x"}}});
              }),
              testing::HasSubstr("a row of 1 cells under 2 headings"));
}

}  // namespace
}  // namespace heed::plot
