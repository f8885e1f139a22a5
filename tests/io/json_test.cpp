// Reading JSON: the tree with its places, and what is refused.
#include "heed/io/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/error_message.h"

namespace heed::io {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const Value& at(const Value& table, std::string_view key) { return *find(*table.table(), key); }

std::string error_of(std::string_view text) {
  return error_message([&] { parse_json(text, "a.json"); });
}

TEST(Json, ReadsEveryKind) {
  const Value v = parse_json(
      R"({"n":null,"t":true,"f":false,"i":-42,"x":0.5,"s":"a\u5c42\n","l":[1,[]],"o":{}})", "");
  EXPECT_TRUE(at(v, "n").is_null());
  EXPECT_TRUE(*at(v, "t").boolean());
  EXPECT_FALSE(*at(v, "f").boolean());
  EXPECT_EQ(*at(v, "i").integer(), -42);
  EXPECT_EQ(*at(v, "x").floating(), 0.5);
  EXPECT_EQ(*at(v, "s").string(), "a层\n");
  EXPECT_EQ(*(*at(v, "l").list())[0].integer(), 1);
  EXPECT_TRUE((*at(v, "l").list())[1].list()->empty());
  EXPECT_TRUE(at(v, "o").table()->empty());
  EXPECT_EQ(v.table()->front().key, "n") << "the order of the text is kept";
}

TEST(Json, IntegersAreSigned64Bits) {
  EXPECT_EQ(*parse_json("9223372036854775807", "").integer(),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*parse_json("-9223372036854775808", "").integer(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(*parse_json("9223372036854775808", "").floating(), 0x1p63);
  EXPECT_EQ(*parse_json("18446744073709551616", "").floating(), 0x1p64);
}

void expect_place(const Value& value, std::uint32_t line, std::uint32_t column, std::size_t byte) {
  EXPECT_EQ(value.position.line, line) << describe(value);
  EXPECT_EQ(value.position.column, column) << describe(value);
  EXPECT_EQ(value.position.byte, byte) << describe(value);
}

TEST(Json, KnowsWhereValuesStand) {
  const Value v =
      parse_json("{ \"a\\\\\\\"\" : 1,\n  \"b\": [12,\n true , \"x\\\\\", null,{}, 7\n]}", "");
  expect_place(v, 1, 1, 0);
  expect_place(at(v, "a\\\""), 1, 3, 2);  // a member stands where its key does
  expect_place(at(v, "b"), 2, 3, 17);
  const Value::List& list = *at(v, "b").list();
  expect_place(list[0], 2, 9, 23);
  expect_place(list[1], 3, 2, 28);
  expect_place(list[2], 3, 9, 35);
  expect_place(list[3], 3, 16, 42);
  expect_place(list[4], 3, 21, 47);
  expect_place(list[5], 3, 25, 51);
  expect_place(parse_json("17", ""), 1, 1, 0);
}

TEST(Json, RefusesWhatIsNotJson) {
  struct Case {
    std::string_view text;
    const char* place;
    const char* reason;
  };
  using namespace std::string_view_literals;
  const Case cases[] = {
      {"", "a.json", "unexpected end of input"},
      {"{\n  \"a\": x}", "a.json:2:8", "invalid literal"},
      {"{\"a\": 1,}", "a.json:1:9", "expected string literal"},
      {"[1 2]", "a.json:1:5", "unexpected number literal"},
      {"{} {}", "a.json:1:4", "expected end of input"},
      {"// no\n1", "a.json:1:1", "invalid literal"},
      {"\"\xff\"", "a.json:1:2", "ill-formed UTF-8 byte"},
      {"\"\xc0\xaf\"", "a.json:1:2", "ill-formed UTF-8 byte"},      // overlong
      {"\"\xed\xa0\x80\"", "a.json:1:3", "ill-formed UTF-8 byte"},  // a surrogate
      {"\"\\ud800\"", "a.json:1:8", "surrogate"},
      {"\"a\nb\"", "a.json:", "control character"},
      {"1e999", "a.json:1:5", "number overflow"},
      {"NaN", "a.json:1:1", "invalid literal"},
      {"{}\0 anything"sv, "a.json:1:3", "a zero byte"},
      {"[\n\"\0\"]"sv, "a.json:2:2", "a zero byte"},
      {R"({"a": 1, "b": 2, "a": 3})", "a.json:1:18",
       "key \"a\" appears twice: first at line 1, column 2"},
      {R"({"a": 1, "\u0061": 3})", "a.json:1:10", "appears twice"},
      {R"([{"x": {"k": 1, "k": 1}}])", "a.json:1:17", "appears twice"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(error_of(c.text), StartsWith(fmt::format("[json] {}", c.place))) << c.text;
    EXPECT_THAT(error_of(c.text), HasSubstr(c.reason)) << c.text;
  }
}

TEST(Json, MessagesNeverCarryRawBytes) {
  EXPECT_THAT(error_of("\"\x1b\""), Not(HasSubstr("\x1b")));
  EXPECT_THAT(error_of("\"\xff\""), Not(HasSubstr("\xff")));
  EXPECT_THAT(error_of("\"'; expected \xff\""), Not(HasSubstr("\xff")));
  EXPECT_LT(error_of("\"" + std::string(100'000, 'x')).size(), 400u);
}

TEST(Json, DepthIsLimited) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(error_of(nested(kMaxDepth)), "(no error)");
  EXPECT_EQ(error_of(nested(kMaxDepth + 1)), "[json] a.json:1:65: nested deeper than 64");
  EXPECT_THAT(error_of(std::string(1'000'000, '[')), HasSubstr("nested deeper"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(error_of(objects), HasSubstr("nested deeper"));
}

TEST(Json, TheNumberOfValuesIsLimited) {
  // "[[],[],[]]" has four values.
  const auto error_with = [](std::string_view text, std::size_t limit) {
    return error_message([&] { parse_json(text, "a.json", limit); });
  };
  EXPECT_EQ(error_with("[[],[],[]]", 4), "(no error)");
  EXPECT_THAT(error_with("[[],[],[]]", 3), HasSubstr("over 3 values"));
  EXPECT_EQ(error_with(R"({"a": 1, "b": {"c": null}})", 4), "(no error)");
  EXPECT_THAT(error_with(R"({"a": 1, "b": {"c": null}})", 3), HasSubstr("over 3 values"));
}

}  // namespace
}  // namespace heed::io
