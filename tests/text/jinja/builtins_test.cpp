// Filters, tests and methods that the golden templates do not reach, and their errors.
#include "heed/text/jinja/builtins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::jinja::builtins_test {
namespace {

using testing::HasSubstr;

Value json(std::string_view text) { return from_json(io::parse_json(text, "test")); }

std::string filtered(std::string_view name, std::string_view value,
                     std::vector<Value> arguments = {}) {
  return to_text(apply_filter(name, json(value), {std::move(arguments), {}}));
}

TEST(JinjaBuiltins, Filters) {
  EXPECT_EQ(filtered("trim", "\"  a\\u00a0\""), "a") << "white space of Unicode";
  EXPECT_EQ(filtered("last", "[1,2]"), "2");
  EXPECT_EQ(filtered("first", "[]"), "");
  EXPECT_EQ(filtered("reverse", "[1,2]"), "[2, 1]");
  EXPECT_EQ(filtered("items", R"({"a":1})"), "[['a', 1]]");
  EXPECT_EQ(filtered("int", "\" 12 \""), "12");
  EXPECT_EQ(filtered("int", "\"x\""), "0");
  EXPECT_EQ(filtered("length", R"({"a":1,"b":2})"), "2");
  EXPECT_EQ(filtered("rejectattr", R"([{"a":1},{"a":0}])", {json("\"a\"")}), "[{'a': 0}]");
  EXPECT_EQ(filtered("map", R"(["a","b"])", {json("\"upper\"")}), "['A', 'B']");
}

TEST(JinjaBuiltins, ErrorsNameWhatIsKnown) {
  EXPECT_THAT(error_message([] { filtered("frobnicate", "1"); }),
              HasSubstr("the filter \"frobnicate\" is not supported: heed knows trim, length"));
  EXPECT_THAT(error_message([] { filtered("length", "3"); }), HasSubstr("length of an integer"));
  EXPECT_THAT(error_message([] { apply_test("weird", Value(), {}); }),
              HasSubstr("the test \"weird\" is not supported"));
  EXPECT_THAT(error_message([] { call_method(json("\"a\""), "format", {}); }),
              HasSubstr("strings have no method \"format\""));
  EXPECT_THAT(error_message([] { call_method(json("{}"), "pop", {}); }),
              HasSubstr("dicts have no method \"pop\""));
  EXPECT_THAT(error_message([] { call_method(json("3"), "x", {}); }),
              HasSubstr("an integer has no method \"x\""));
  EXPECT_THAT(error_message([] { filtered("upper", "\"é\""); }), HasSubstr("ASCII letters only"));
  EXPECT_EQ(filtered("upper", "\"a狗\""), "A狗");
  EXPECT_THAT(error_message([] { filtered("tojson", "1", {json("99")}); }), HasSubstr("0 to 16"));
}

TEST(JinjaBuiltins, MembersAndSlices) {
  EXPECT_EQ(to_text(member_of(json("[1,2]"), json("-1"))), "2");
  EXPECT_TRUE(member_of(json("[1,2]"), json("2")).undefined());
  EXPECT_TRUE(member_of(json("[1,2]"), json("\"a\"")).undefined());
  EXPECT_EQ(to_text(member_of(json("\"aé\""), json("1"))), "é");
  EXPECT_THAT(error_message([] { member_of(Undefined{"x"}, json("1")); }),
              HasSubstr("\"x\" is undefined"));
  const auto slice = [](const char* object, const char* from, const char* to, const char* step) {
    const Value f = json(from), t = json(to), s = json(step);
    return to_text(slice_of(json(object), &f, &t, &s));
  };
  EXPECT_EQ(slice("[0,1,2,3]", "1", "-1", "null"), "[1, 2]");
  EXPECT_EQ(slice("[0,1,2,3]", "-99", "99", "1"), "[0, 1, 2, 3]");
  EXPECT_EQ(slice("[0,1,2,3]", "2", "0", "-1"), "[2, 1]");
  EXPECT_EQ(slice("[0,1,2,3]", "3", "1", "null"), "[]");
  EXPECT_THAT(error_message([&] { slice("[1]", "0", "1", "2"); }), HasSubstr("step 2"));
  EXPECT_THAT(error_message([&] { slice("3", "0", "1", "1"); }), HasSubstr("cannot be sliced"));
}

}  // namespace
}  // namespace heed::jinja::builtins_test
