// What messages say about values and texts.
#include "heed/io/value.h"

#include <gtest/gtest.h>

namespace heed::io {
namespace {

TEST(Value, IsDescribedForMessages) {
  EXPECT_EQ(describe({}), "null");
  EXPECT_EQ(describe({true}), "true");
  EXPECT_EQ(describe({std::int64_t{-3}}), "the integer -3");
  EXPECT_EQ(describe({0.5}), "the float 0.5");
  EXPECT_EQ(describe({std::string("x")}), "the string \"x\"");
  EXPECT_EQ(describe({Value::List{}}), "a list");
  EXPECT_EQ(describe({Value::Table{}}), "a table");
}

TEST(Value, FindsMembers) {
  const Value::Table table = {{"a", {true}}, {"b", {false}}};
  EXPECT_EQ(find(table, "b"), &table[1].value);
  EXPECT_EQ(find(table, "c"), nullptr);
}

TEST(Value, QuotesAreSafeToPrint) {
  EXPECT_EQ(in_quotes("层.weight"), "\"层.weight\"");
  EXPECT_EQ(in_quotes("a\"\x1b[2J\n\xff"), R"("a\"\x1b[2J\n\xff")");
}

TEST(Value, LongQuotesAreCutBetweenCharacters) {
  EXPECT_EQ(in_quotes(std::string(100, 'x')), '"' + std::string(100, 'x') + '"');
  EXPECT_EQ(in_quotes(std::string(1000, 'x')), '"' + std::string(100, 'x') + "\"...");
  std::string chinese;
  for (int i = 0; i < 50; ++i) chinese += "层";  // three bytes each: 100 is inside one
  EXPECT_EQ(in_quotes(chinese), '"' + chinese.substr(0, 99) + "\"...");
}

TEST(Value, PlacesAreWrittenAsEditorsReadThem) {
  EXPECT_EQ(to_string("a.toml", Position{3, 7, 0}), "a.toml:3:7");
  EXPECT_EQ(to_string("flags", Position{}), "flags");
}

TEST(Value, ParseErrorSaysPlaceAndReason) {
  const ParseError error("toml", "a.toml", {3, 7, 0}, "nonsense");
  EXPECT_STREQ(error.what(), "[toml] a.toml:3:7: nonsense");
  EXPECT_EQ(error.reason, "nonsense");
  EXPECT_EQ(error.position.line, 3u);
}

}  // namespace
}  // namespace heed::io
