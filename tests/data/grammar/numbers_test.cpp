// Number words of both languages.
#include "heed/data/grammar/numbers.h"

#include <gtest/gtest.h>

namespace heed::grammar {
namespace {

TEST(Numbers, InEnglish) {
  EXPECT_EQ(english_number(1), "one");
  EXPECT_EQ(english_number(13), "thirteen");
  EXPECT_EQ(english_number(40), "forty");
  EXPECT_EQ(english_number(99), "ninety-nine");
  EXPECT_EQ(english_number(200), "two hundred");
  EXPECT_EQ(english_number(305), "three hundred and five");
}

TEST(Numbers, InChineseCountTwoThingsWithLiang) {
  EXPECT_EQ(chinese_count(1), "一");
  EXPECT_EQ(chinese_count(2), "两");
  EXPECT_EQ(chinese_count(10), "十");
  EXPECT_EQ(chinese_count(12), "十二");
  EXPECT_EQ(chinese_count(20), "二十");
  EXPECT_EQ(chinese_count(22), "二十二");
  EXPECT_EQ(chinese_count(200), "两百");
  EXPECT_EQ(chinese_count(105), "一百零五");
  EXPECT_EQ(chinese_count(110), "一百一十");
  EXPECT_EQ(chinese_count(222), "两百二十二");
}

}  // namespace
}  // namespace heed::grammar
