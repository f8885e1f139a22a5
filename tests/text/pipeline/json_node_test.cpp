// Values of JSON with their paths.
#include "heed/text/pipeline/json_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::pipeline::json_node_test {
namespace {

using testing::HasSubstr;

TEST(JsonNode, ReadsAndNamesPaths) {
  const io::Value value = io::parse_json(R"({"a": {"b": [1, "x", true, 1.5, null]}})", "f");
  const JsonNode list = JsonNode(value, "f").at("a").at("b");
  EXPECT_EQ(list.where(), "f: a.b");
  const std::vector<JsonNode> items = list.list();
  EXPECT_EQ(items[0].integer(0, 9), 1);
  EXPECT_EQ(items[1].text(), "x");
  EXPECT_EQ(items[1].character(), U'x');
  EXPECT_TRUE(items[2].boolean());
  EXPECT_EQ(items[3].number(), 1.5);
  EXPECT_EQ(items[0].number(), 1);
  EXPECT_EQ(items[4].where(), "f: a.b[4]");
  EXPECT_FALSE(JsonNode(value, "f").find("c"));
  EXPECT_TRUE(JsonNode(value, "f").flag("c", true));
  EXPECT_EQ(JsonNode(value, "f").text("c", "d"), "d");
}

TEST(JsonNode, ErrorsSayWhereAndWhat) {
  const io::Value value = io::parse_json(R"({"a": [1, "xy"]})", "f");
  const JsonNode root(value, "f");
  const std::vector<JsonNode> items = root.at("a").list();
  EXPECT_THAT(error_message([&] { items[0].text(); }),
              HasSubstr("f: a[0] is the integer 1: expected a string"));
  EXPECT_THAT(error_message([&] { items[0].integer(2, 3); }), HasSubstr("an integer from 2 to 3"));
  EXPECT_THAT(error_message([&] { items[1].character(); }), HasSubstr("one character"));
  EXPECT_THAT(error_message([&] { items[1].boolean(); }), HasSubstr("true or false"));
  EXPECT_THAT(error_message([&] { items[1].number(); }), HasSubstr("a number"));
  EXPECT_THAT(error_message([&] { items[1].list(); }), HasSubstr("a list"));
  EXPECT_THAT(error_message([&] { items[1].members(); }), HasSubstr("an object"));
  EXPECT_THAT(error_message([&] { root.at("b"); }), HasSubstr("f lacks \"b\""));
}

}  // namespace
}  // namespace heed::pipeline::json_node_test
