// What becomes of delimiters.
#include "heed/text/pipeline/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::pipeline::split_test {
namespace {

std::vector<std::string> parts_of(std::string_view text, SplitBehavior behavior) {
  std::vector<Match> parts;
  Pattern(std::string("-")).find(text, parts);
  apply_behavior(behavior, parts);
  std::vector<std::string> all;
  for (const Match& part : parts) all.emplace_back(text.substr(part.begin, part.end - part.begin));
  return all;
}

TEST(Split, HasFiveBehaviors) {
  using testing::ElementsAre;
  constexpr std::string_view kText = "a-b--c";
  EXPECT_THAT(parts_of(kText, SplitBehavior::removed), ElementsAre("a", "b", "c"));
  EXPECT_THAT(parts_of(kText, SplitBehavior::isolated), ElementsAre("a", "-", "b", "-", "-", "c"));
  EXPECT_THAT(parts_of(kText, SplitBehavior::merged_with_previous),
              ElementsAre("a-", "b-", "-", "c"));
  EXPECT_THAT(parts_of(kText, SplitBehavior::merged_with_next), ElementsAre("a", "-b", "-", "-c"));
  EXPECT_THAT(parts_of(kText, SplitBehavior::contiguous), ElementsAre("a", "-", "b", "--", "c"));
}

TEST(Split, ReadsNamesInBothSpellings) {
  const io::Value value = io::parse_json(R"(["MergedWithNext", "merged_with_next", "Gone"])", "f");
  const std::vector<JsonNode> names = JsonNode(value, "f", "x").list();
  EXPECT_EQ(read_behavior(names[0]), SplitBehavior::merged_with_next);
  EXPECT_EQ(read_behavior(names[1]), SplitBehavior::merged_with_next);
  EXPECT_THAT(error_message([&] { read_behavior(names[2]); }), testing::HasSubstr("Contiguous"));
}

}  // namespace
}  // namespace heed::pipeline::split_test
