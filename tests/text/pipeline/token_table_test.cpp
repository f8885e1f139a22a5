// Tokens by id and by text.
#include "heed/text/pipeline/token_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::pipeline::token_table_test {
namespace {

TEST(TokenTable, FindsBothWays) {
  const io::Value value = io::parse_json(R"({"a": 0, "b": 3})", "f");
  const TokenTable table = TokenTable::read(JsonNode(value, "f", "vocab"));
  EXPECT_EQ(table.id_of("b"), 3);
  EXPECT_EQ(table.id_of("c"), std::nullopt);
  EXPECT_EQ(table.text(3), "b");
  EXPECT_EQ(table.text(1), "");
  EXPECT_FALSE(table.contains(1));
  EXPECT_EQ(table.limit(), 4);
  EXPECT_EQ(table.size(), 2u);
}

TEST(TokenTable, TheLastOfEqualTextsCounts) {
  TokenTable table;
  table.add("a", 0);
  table.add("a", 1);
  EXPECT_EQ(table.id_of("a"), 1);
  EXPECT_EQ(table.text(0), "a");
  EXPECT_EQ(table.size(), 1u);
  const TokenTable moved = std::move(table);
  EXPECT_EQ(moved.id_of("a"), 1);
}

TEST(TokenTable, RefusesIdsBeyondTheLimit) {
  const io::Value value = io::parse_json(R"({"a": 99999999999})", "f");
  EXPECT_THAT(error_message([&] { TokenTable::read(JsonNode(value, "f", "vocab")); }),
              testing::HasSubstr("f: vocab.\"a\" is the integer 99999999999"));
}

}  // namespace
}  // namespace heed::pipeline::token_table_test
