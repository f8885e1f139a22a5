// Stop strings: where they are found, what is held back, and stops inside tokens.
#include "heed/generation/stop_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/text/pipeline/hf_tokenizer.h"
#include "tests/generation/tiny_translator.h"

namespace heed {
namespace {

using Strings = std::vector<std::string>;
using Tokens = std::vector<std::int32_t>;

TEST(StopText, TheFirstOfTheStopStrings) {
  EXPECT_EQ(find_stop("one two three", Strings{"three", "two"}), 4u);
  EXPECT_EQ(find_stop("one two three", Strings{"four"}), std::nullopt);
  EXPECT_EQ(find_stop("one", Strings{}), std::nullopt);
  EXPECT_EQ(find_stop("", Strings{"a"}), std::nullopt);
}

TEST(StopText, HoldsBackTheLongestBeginning) {
  EXPECT_EQ(count_held_back("abc", Strings{"cd", "bcd"}), 2u);
  EXPECT_EQ(count_held_back("aaa", Strings{"aaaa"}), 3u);
  EXPECT_EQ(count_held_back("abab", Strings{"ababab", "b"}), 4u);
  EXPECT_EQ(count_held_back("abx", Strings{"ab"}), 0u);
  EXPECT_EQ(count_held_back("a", Strings{"a"}), 0u) << "a whole stop string ends the text";
  EXPECT_EQ(count_held_back("", Strings{"ab"}), 0u);
  EXPECT_EQ(count_held_back("ab", Strings{}), 0u);
}

TEST(StopText, WithholdsNothingThatIsCertainAndTellsNothingTooMuch) {
  const Strings stops = {"aab", "ba", "c"};
  for (int number = 0; number < 3 * 3 * 3 * 3 * 3 * 3; ++number) {
    std::string text;
    for (int n = number, i = 0; i < 6; ++i, n /= 3) text += static_cast<char>('a' + n % 3);
    const auto found = find_stop(text, stops);
    for (std::size_t seen = 0; seen <= text.size(); ++seen) {
      const std::string_view so_far = std::string_view(text).substr(0, seen);
      if (find_stop(so_far, stops)) break;
      EXPECT_LE(seen - count_held_back(so_far, stops), found.value_or(text.size())) << text;
    }
  }
}

TEST(StopText, IsFoundInTheTextOfTokens) {
  const auto tokenizer = test::letters("abcdefgh ");
  const Tokens prompt = tokenizer->encode("ab");
  const auto stop = stop_at(*tokenizer, {"bc", "had a bad"}, prompt);
  EXPECT_FALSE(stop(tokenizer->encode("c"))) << "it does not begin in the prompt";
  EXPECT_TRUE(stop(tokenizer->encode("abc")));
  EXPECT_FALSE(stop(tokenizer->encode("had a ba")));
  EXPECT_TRUE(stop(tokenizer->encode("had a bad")));
  EXPECT_TRUE(stop(tokenizer->encode("deaf deaf deaf deaf deaf had a bad")));
  EXPECT_FALSE(stop(tokenizer->encode("deaf deaf deaf deaf deaf had a bae")));
}

// Words with the spaces before them, and bytes.
std::shared_ptr<const Tokenizer> byte_tokens() {
  return HfTokenizer::parse(R"({"added_tokens": [],
      "decoder": {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
      "model": {"type": "BPE", "byte_fallback": true, "unk_token": "<unk>", "merges": [],
        "vocab": {"<unk>": 0, "▁one": 1, "▁two.": 2, ".th": 3, "<0xC3>": 4, "<0xA9>": 5}}})",
                            "tokenizer.json");
}

TEST(StopText, MayBeginAndEndInsideTokens) {
  const auto tokenizer = byte_tokens();
  const auto stops = [&](std::string text, const Tokens& tokens) {
    return stop_at(*tokenizer, {std::move(text)}, Tokens{1})(tokens);
  };
  EXPECT_TRUE(stops("o..t", {2, 3}));
  EXPECT_FALSE(stops("o..t", {2, 2}));
  EXPECT_TRUE(stops(" two", {2})) << "the space is part of the text, which continues a prompt";
  EXPECT_TRUE(stops("\u00e9", {2, 4, 5})) << "a character of two tokens";
  EXPECT_FALSE(stops("\u00e9", {2, 4}));
  EXPECT_TRUE(stops(". o", {2, 1}));
}

}  // namespace
}  // namespace heed
