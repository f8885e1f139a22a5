// Layers with a window: the pattern from layer_types or by number, and the attention of the block.
#include "heed/models/importers/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::windows_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ForeignConfig config_of(std::string_view json) {
  return {io::parse_json(json, "config.json"), "config.json"};
}
bool is_odd(std::int64_t layer) { return layer % 2 == 1; }

TEST(Windows, PatternsFromTypesOrByNumber) {
  EXPECT_EQ(import_layer_pattern(config_of("{}"), 5, is_odd), "GLGLG");
  const ForeignConfig typed =
      config_of(R"({"layer_types": ["sliding_attention", "sliding_attention", "full_attention"]})");
  EXPECT_EQ(import_layer_pattern(typed, 3, is_odd), "LLG");
}

TEST(Windows, WrongTypesSayWhatIsWrong) {
  const ForeignConfig typed = config_of(R"({"layer_types": ["chunked_attention"]})");
  EXPECT_THAT(error_message([&] { import_layer_pattern(typed, 1, is_odd); }),
              AllOf(HasSubstr("config.json"), HasSubstr("\"chunked_attention\"")));
  EXPECT_THAT(error_message([&] { import_layer_pattern(typed, 2, is_odd); }),
              HasSubstr("1 entries, and there are 2 layers"));
  for (const std::int64_t layers : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 60}) {
    EXPECT_THAT(error_message([&] { import_layer_pattern(config_of("{}"), layers, is_odd); }),
                HasSubstr("layers: expected 1 to"));
  }
}

TEST(Windows, TheAttentionOfABlock) {
  const auto block_of = [](const std::string& pattern, std::int64_t window) {
    BlockConfig block;
    set_windows(block, config_of("{}"), pattern, window, "bias=false");
    return block;
  };
  const BlockConfig global = block_of("GG", 0);
  EXPECT_EQ(global.attention.text(), "multi_head bias=false");
  EXPECT_TRUE(global.layer_pattern.empty());
  EXPECT_FALSE(global.local_attention);
  const BlockConfig local = block_of("LL", 1);
  EXPECT_EQ(local.attention.text(), "restricted left=0 right=0 bias=false");
  EXPECT_TRUE(local.layer_pattern.empty());
  const BlockConfig both = block_of("LG", 4);
  EXPECT_EQ(both.attention.text(), "multi_head bias=false");
  EXPECT_EQ(both.local_attention->text(), "restricted left=3 right=0 bias=false");
  EXPECT_EQ(both.layer_pattern, "LG");
  EXPECT_THAT(error_message([&] { block_of("LG", 0); }), HasSubstr("\"sliding_window\" is 0"));
}

}  // namespace
}  // namespace heed::windows_test
