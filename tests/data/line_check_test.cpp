// Faults of lines: found, placed, counted.
#include "heed/data/line_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed {
namespace {

std::string fault_of(std::string_view line, std::size_t max_bytes = 100) {
  const auto fault = find_fault(line, max_bytes);
  return fault ? fmt::format("{}: {}", name_of(fault->kind), fault->what) : "";
}

TEST(LineCheck, FindsFaults) {
  EXPECT_EQ(fault_of("a fine line"), "");
  EXPECT_EQ(fault_of("你好 🙂"), "");
  EXPECT_EQ(fault_of(""), "empty: is empty");
  EXPECT_EQ(fault_of(" \t\u3000"), "empty: is empty");
  EXPECT_EQ(fault_of(std::string_view("ab\0c", 4)), "with NUL bytes: has a NUL byte at byte 3");
  EXPECT_EQ(fault_of("ab\xFF"), "with broken UTF-8: has broken UTF-8 at byte 3 (0xFF)");
  EXPECT_EQ(fault_of("\xE4\xBD"), "with broken UTF-8: has broken UTF-8 at byte 1 (0xE4)");
  EXPECT_EQ(fault_of("abcd", 4), "");
  EXPECT_EQ(fault_of("abcde", 4), "too long: has 5 bytes, more than 4");
}

TEST(LineCheck, StopsWithThePlace) {
  BadLines bad;
  EXPECT_EQ(error_message([&] {
              bad.add({BadLine::empty, "is empty"}, "f.en:7", OnBad::stop);
            }),
            "[text] f.en:7 is empty: fix the file, or skip bad lines with on_bad = \"skip\"");
  EXPECT_EQ(bad.total(), 0);
}

TEST(LineCheck, CountsByKind) {
  BadLines bad;
  EXPECT_EQ(bad.describe(), "");
  bad.add({BadLine::empty, "is empty"}, "f:1", OnBad::skip);
  bad.add({BadLine::utf8, ""}, "f:2", OnBad::skip);
  bad.add({BadLine::empty, "is empty"}, "f:3", OnBad::skip);
  EXPECT_EQ(bad.total(), 3);
  EXPECT_EQ(bad.count(BadLine::empty), 2);
  EXPECT_EQ(bad.count(BadLine::nul), 0);
  EXPECT_EQ(bad.first(BadLine::empty), "f:1");
  EXPECT_EQ(bad.describe(), "1 with broken UTF-8 (first: f:2), 2 empty (first: f:1)");
}

}  // namespace
}  // namespace heed
