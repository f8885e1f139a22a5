// Numbers and strings as Python writes them.
#include "heed/evaluation/python_format.h"

#include <gtest/gtest.h>

namespace heed::evaluation {
namespace {

TEST(PythonFormat, FixedDigits) {
  EXPECT_EQ(fixed(27.35, 1), "27.4");  // the double is a little above
  EXPECT_EQ(fixed(0.125, 2), "0.12");  // a tie goes to the even digit
  EXPECT_EQ(fixed(2.5, 0), "2");
  EXPECT_EQ(fixed(0.1, 20), "0.10000000000000000555");
}

TEST(PythonFormat, ShortestDigits) {
  EXPECT_EQ(shortest(0.0), "0.0");
  EXPECT_EQ(shortest(100.0), "100.0");
  EXPECT_EQ(shortest(50.353378875558576), "50.353378875558576");
  EXPECT_EQ(shortest(0.0001), "0.0001");
  EXPECT_EQ(shortest(9.999000099990002e-05), "9.999000099990002e-05");
  EXPECT_EQ(shortest(1e16), "1e+16");
  EXPECT_EQ(shortest(1e15), "1000000000000000.0");
}

TEST(PythonFormat, AsciiStrings) {
  EXPECT_EQ(ascii_json("a\"\\\n\t\x01\x7f"), R"("a\"\\\n\t\u0001\u007f")");
  EXPECT_EQ(ascii_json("é你😀"), R"("\u00e9\u4f60\ud83d\ude00")");
}

}  // namespace
}  // namespace heed::evaluation
