// Regular expressions: translation, matches, and limits.
#include "heed/text/pipeline/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::pipeline::regex_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Match> find(std::string_view pattern, std::string_view text) {
  std::vector<Match> parts;
  Regex(pattern, "test").find(text, parts);
  return parts;
}

std::vector<std::string> matches(std::string_view pattern, std::string_view text) {
  std::vector<std::string> all;
  for (const Match& part : find(pattern, text)) {
    if (part.matched) all.emplace_back(text.substr(part.begin, part.end - part.begin));
  }
  return all;
}

TEST(Regex, CoversTheText) {
  EXPECT_THAT(find("b+", "abbc"),
              ElementsAre(Match{0, 1, false}, Match{1, 3, true}, Match{3, 4, false}));
  EXPECT_THAT(find("x", "ab"), ElementsAre(Match{0, 2, false}));
  EXPECT_THAT(find("x", ""), ElementsAre());
}

TEST(Regex, AnEmptyMatchAfterAMatchDoesNotCount) {
  EXPECT_THAT(find("b*", "abb"),
              ElementsAre(Match{0, 0, true}, Match{0, 1, false}, Match{1, 3, true}));
  EXPECT_THAT(find("(?=b)", "abb"),
              ElementsAre(Match{0, 1, false}, Match{1, 1, true}, Match{1, 2, false},
                          Match{2, 2, true}, Match{2, 3, false}));
}

TEST(Regex, KnowsUnicode) {
  EXPECT_THAT(matches("\\p{L}+", "Straße 狗狗 1"), ElementsAre("Straße", "狗狗"));
  EXPECT_THAT(matches("(?i:É)", "éÉ"), ElementsAre("é", "É"));
  EXPECT_THAT(matches("\\s+", "a\u3000\u00A0b\u180E c"), ElementsAre("\u3000\u00A0", " "));
  EXPECT_THAT(matches("[^\\s\\p{L}]+", "a!? \u3000b-"), ElementsAre("!?", "-"));
}

TEST(Regex, ReadsRubysSyntax) {
  EXPECT_THAT(matches("\\h+", "xyz 1aF"), ElementsAre("1aF"));
  EXPECT_THAT(matches("^.", "ab\ncd"), ElementsAre("a", "c"));
  EXPECT_THAT(matches("a(?m:.)b", "a\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(matches("\\p{Letter}{,2}x", "abcx"), ElementsAre("bcx"));
  EXPECT_THAT(matches("\\p{^Lu}", "aB"), ElementsAre("a"));
  EXPECT_THAT(matches("[a[bc]]+", "xabcx"), ElementsAre("abc"));
  EXPECT_THAT(matches("[[:punct:][:space:]]+", "a+ b"), ElementsAre("+ "));
  EXPECT_THAT(matches("\\u0041|\\u{42}", "AB"), ElementsAre("A", "B"));
  EXPECT_THAT(matches("[]a]+", "]a["), ElementsAre("]a"));
}

TEST(Regex, RefusesWhatItCannotTranslate) {
  const auto error = [](std::string_view pattern) {
    return error_message([&] { Regex(pattern, "pre_tokenizer"); });
  };
  EXPECT_THAT(error("[a&&b]"),
              HasSubstr("pre_tokenizer: the expression \"[a&&b]\" uses an intersection"));
  EXPECT_THAT(error("(a"), HasSubstr("not valid"));
  EXPECT_THAT(error("a\\"), HasSubstr("backslash"));
  EXPECT_THAT(error(std::string(1 << 17, 'a')), HasSubstr("the limit is"));
}

TEST(Regex, GivesUpOnExpressionsThatExplode) {
  std::string text(60, 'a');
  text += '!';
  EXPECT_THAT(error_message([&] { find("(a+)+[bc]", text); }), HasSubstr("cannot be matched"));
  EXPECT_THAT(error_message([&] { find("(?:a|a)*[bc]", text); }), HasSubstr("cannot be matched"));
}

TEST(Regex, LongTextsAreNoProblem) {
  std::string text(1 << 20, ' ');
  text += 'x';
  EXPECT_EQ(matches("\\s+(?!\\S)|\\s+|\\S+", text).size(), 3u);
}

TEST(Pattern, FindsTextsAsTheyAre) {
  std::vector<Match> parts;
  Pattern(std::string(".")).find("a.b", parts);
  EXPECT_THAT(parts, ElementsAre(Match{0, 1, false}, Match{1, 2, true}, Match{2, 3, false}));
  parts.clear();
  Pattern(std::string()).find("狗", parts);
  EXPECT_THAT(parts, ElementsAre(Match{0, 0, true}, Match{0, 3, false}, Match{3, 3, true}));
}

}  // namespace
}  // namespace heed::pipeline::regex_test
