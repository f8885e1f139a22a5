// Values of chat templates print, compare and convert as in Python.
#include "heed/text/jinja/value.h"

#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::jinja::value_test {
namespace {

Value json(std::string_view text) { return from_json(io::parse_json(text, "test")); }

TEST(JinjaValue, PrintsAsPython) {
  EXPECT_EQ(to_text(json(R"([1, 2.0, "a", "it's", true, null, {"k": []}])")),
            R"([1, 2.0, 'a', "it's", True, None, {'k': []}])");
  EXPECT_EQ(to_text(Value(std::string("a"))), "a");
  EXPECT_EQ(to_repr(Value(std::string("a\n\\'\"\x01"))), R"('a\n\\\'"\x01')");
  EXPECT_EQ(to_text(Value(1e17)), "1e+17");
  EXPECT_EQ(to_text(Value(0.1)), "0.1");
  EXPECT_EQ(to_text(Value(Undefined{"x"})), "");
  EXPECT_EQ(to_text(Value()), "None");
}

TEST(JinjaValue, IsTrueAndEqualAsInPython) {
  for (const char* text : {"0", "0.0", "\"\"", "[]", "{}", "false", "null"}) {
    EXPECT_FALSE(truthy(json(text))) << text;
  }
  for (const char* text : {"1", "-0.5", "\"a\"", "[0]", "{\"a\":0}", "true"}) {
    EXPECT_TRUE(truthy(json(text))) << text;
  }
  EXPECT_TRUE(equal(json("1"), json("1.0")));
  EXPECT_TRUE(equal(json("true"), json("1")));
  EXPECT_FALSE(equal(json("1"), json("\"1\"")));
  EXPECT_FALSE(equal(json("null"), json("false")));
  EXPECT_TRUE(equal(json(R"([1,{"a":2,"b":3}])"), json(R"([1,{"b":3,"a":2}])")));
  EXPECT_FALSE(equal(json(R"({"a":2})"), json(R"({"b":2})")));
}

TEST(JinjaValue, WritesJsonAsPython) {
  const Value value = json(R"({"a":[1,"é\n\"\u0001"],"b":{},"c":[],"d":null,"e":1.0})");
  EXPECT_EQ(to_json(value, std::nullopt),
            R"({"a": [1, "é\n\"\u0001"], "b": {}, "c": [], "d": null, "e": 1.0})");
  EXPECT_EQ(to_json(json(R"({"a":[1,2]})"), 2), "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
  EXPECT_NE(error_message([] { to_json(Value(Undefined{"x"}), std::nullopt); }), "(no error)");
}

TEST(JinjaValue, DictsKeepTheirOrder) {
  Dict dict;
  dict.set("b", std::int64_t{1});
  dict.set("a", std::int64_t{2});
  dict.set("b", std::int64_t{3});
  EXPECT_EQ(to_text(dict), "{'b': 3, 'a': 2}");
  EXPECT_EQ(dict.find("c"), nullptr);
}

}  // namespace
}  // namespace heed::jinja::value_test
