// Writing JSON: the exact text, and that it reads back as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::io {
namespace {

using testing::HasSubstr;

Value sample() {
  return {Value::Table{
      {"i", {std::int64_t{-7}}},
      {"list", {Value::List{{true}, {0.5}, {}}}},
      {"empty", {Value::List{}}},
      {"o", {Value::Table{{"k", {std::string("a\"b")}}}}},
  }};
}

TEST(JsonWrite, OneLine) {
  EXPECT_EQ(write_json(sample(), false),
            R"({"i":-7,"list":[true,0.5,null],"empty":[],"o":{"k":"a\"b"}})");
}

TEST(JsonWrite, Indented) {
  EXPECT_EQ(write_json(sample(), true), R"({
  "i": -7,
  "list": [
    true,
    0.5,
    null
  ],
  "empty": [],
  "o": {
    "k": "a\"b"
  }
})");
}

TEST(JsonWrite, NumbersReadBackExactly) {
  for (const double number :
       {0.0, -0.0, 1.0, 0.1, 1e22, 1e-7, 5e-324, std::numeric_limits<double>::max(), 0x1p63}) {
    const Value back = parse_json(number_text(number), "");
    ASSERT_TRUE(back.floating()) << number_text(number);
    EXPECT_EQ(*back.floating(), number);
  }
  EXPECT_EQ(number_text(3), "3.0");
}

TEST(JsonWrite, RefusesWhatIsNotFinite) {
  EXPECT_THAT(error_message([] { number_text(std::numeric_limits<double>::infinity()); }),
              HasSubstr("not finite"));
  EXPECT_THAT(error_message([] { number_text(std::numeric_limits<double>::quiet_NaN()); }),
              HasSubstr("not finite"));
}

TEST(JsonWrite, StringsReadBackExactly) {
  std::string all = "层 \u007f\"\\";
  for (char c = 0; c < 32; ++c) all += c;
  EXPECT_EQ(*parse_json(quote_json(all), "").string(), all);
  EXPECT_EQ(quote_json("\x7f"), "\"\\u007f\"");
  EXPECT_THAT(error_message([] { quote_json("\xff"); }), HasSubstr("not valid UTF-8"));
}

// Whatever is written can be read: the limits are the same from both sides.
TEST(JsonWrite, RefusesWhatCouldNotBeRead) {
  for (const bool indented : {false, true}) {
    const std::string text = write_json(sample(), indented, 9);
    parse_json(text, "", 9);
    EXPECT_THAT(error_message([&] { write_json(sample(), indented, 8); }),
                HasSubstr("over 8 values"));
    EXPECT_THAT(error_message([&] { parse_json(text, "", 8); }), HasSubstr("over 8 values"));
  }
  const auto nested = [](int depth) {
    Value value{Value::List{}};
    for (int i = 1; i < depth; ++i) value = {Value::List{std::move(value)}};
    return value;
  };
  parse_json(write_json(nested(kMaxDepth), true), "");
  EXPECT_THAT(error_message([&] { write_json(nested(kMaxDepth + 1), true); }),
              HasSubstr("nested deeper than 64"));
}

}  // namespace
}  // namespace heed::io
