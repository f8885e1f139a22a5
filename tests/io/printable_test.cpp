#include "heed/io/printable.h"

#include <gtest/gtest.h>

#include "heed/io/value.h"

namespace heed::io {
namespace {

TEST(Printable, TextStays) {
  for (const char* const text :
       {"", "layers.0.weight", "注意力 é", "a \"b\" 'c' \\d", "{}", "%s"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, NothingThatControlsATerminalGetsThrough) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable(std::string("\0\x07\x7f\r\n\t", 6)), "\\x00\\x07\\x7f\\r\\n\\t");
  EXPECT_EQ(printable("\u009b2J"), "\\x9b2J") << "C1 has control sequences of its own";
  EXPECT_EQ(printable("\xff"), "\\xff");
  for (const char* const hidden : {"\u202e", "\u2066", "\u200f", "\ufeff", "\u2028", "\uffff"}) {
    EXPECT_EQ(printable(hidden).front(), '\\') << in_quotes(hidden);
    EXPECT_EQ(in_quotes(hidden), '"' + printable(hidden) + '"');
  }
}

TEST(Printable, LinesMayBeKept) {
  EXPECT_EQ(printable_lines("a\x1b\nb\r\n\n"), "a\\x1b\nb\\r\n\n");
  EXPECT_EQ(printable_lines(""), "");
}

}  // namespace
}  // namespace heed::io
