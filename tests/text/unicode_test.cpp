// UTF-8 both ways, where it is broken, and the kinds of characters.
#include "heed/text/unicode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heed::unicode {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Unicode, EveryCodePointSurvives) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append(text, c);
    const CodePoint point = front(text);
    ASSERT_TRUE(point.valid) << std::hex << static_cast<std::uint32_t>(c);
    ASSERT_EQ(point.value, c);
    ASSERT_EQ(point.bytes, text.size());
  }
}

TEST(Unicode, DecodesAndEncodes) {
  const std::string text = "aé狗🙂\n";
  EXPECT_EQ(decode(text), U"aé狗🙂\n");
  EXPECT_EQ(encode(decode(text)), text);
  EXPECT_EQ(decode(""), U"");
  EXPECT_EQ(decode(std::string_view("\0a", 2)), std::u32string_view(U"\0a", 2));
  EXPECT_EQ(encode({U"\xD800", 1}), "\uFFFD");
  EXPECT_EQ(encode({U"\x110000", 1}), "\uFFFD");
}

TEST(Unicode, FindsTheFirstBadByte) {
  const std::pair<std::string, std::size_t> bad[] = {
      {"\xff", 0},
      {"ab\x80", 2},             // a byte that only continues
      {"é\xc3", 2},              // cut off
      {"狗\xe7\x8b", 3},         // cut off later
      {"a\xc0\xaf", 1},          // overlong
      {"a\xe0\x80\xaf", 1},      // overlong
      {"a\xed\xa0\x80", 1},      // a surrogate
      {"a\xf4\x90\x80\x80", 1},  // beyond U+10FFFF
      {"a\xf8\x88\x80\x80\x80", 1},
  };
  for (const auto& [text, position] : bad) EXPECT_EQ(find_invalid(text), position) << position;
  EXPECT_EQ(find_invalid("aé狗🙂"), std::nullopt);
  EXPECT_EQ(find_invalid(""), std::nullopt);
  EXPECT_EQ(find_invalid(std::string_view("\0", 1)), std::nullopt);
}

TEST(Unicode, ReplacesBadBytesOneByOne) {
  EXPECT_EQ(decode("a\xe7\x8b"
                   "b"),
            U"a\uFFFD\uFFFDb");
  EXPECT_EQ(make_valid("ok\xffok"), "ok\uFFFDok");
  EXPECT_EQ(make_valid("狗"), "狗");
  EXPECT_THAT(split("é\xff狗"), ElementsAre("é", "\xff", "狗"));
}

void expect_kind(Kind kind, std::u32string_view points) {
  for (const char32_t c : points) {
    EXPECT_EQ(kind_of(c), kind) << "U+" << std::hex << static_cast<std::uint32_t>(c);
  }
}

TEST(Unicode, KindsAreThoseOfTheStandard) {
  expect_kind(Kind::punctuation, U"!\"#%&'()*,-./:;?@[\\]_{}¡§«»“”…。，、！？「」");
  expect_kind(Kind::symbol, U"$+<=>^`|~¢©¬°±×÷€™←∑🙂");
  expect_kind(Kind::number, U"0９²½Ⅷ〇");
  expect_kind(Kind::letter, U"aßЖ狗ªʰ");
  expect_kind(Kind::mark, U"\u0301\u093E\u20DD");
  expect_kind(Kind::separator, U" \u00A0\u2028\u3000");
  expect_kind(Kind::other, U"\n\u200B\uE000\U0010FFFF");
  EXPECT_EQ(kind_of(0x110000), Kind::other);
  EXPECT_TRUE(is_punctuation(U'?') && is_symbol(U'+') && is_number(U'1') && is_letter(U'a') &&
              is_mark(0x301));
}

TEST(Unicode, SpaceIsWhatPythonSplitsAt) {
  std::u32string spaces;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (is_space(c)) spaces += c;
  }
  EXPECT_EQ(spaces,
            U"\t\n\v\f\r\x1C\x1D\x1E\x1F \x85\xA0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
            U"\u2007\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000");
  EXPECT_THAT(split_words("  a\tb\u3000狗 \n"), ElementsAre("a", "b", "狗"));
  EXPECT_THAT(split_words("a\xff b"), ElementsAre("a\xff", "b"));
  EXPECT_THAT(split_words("end"), ElementsAre("end"));
  EXPECT_THAT(split_words(""), IsEmpty());
  EXPECT_THAT(split_words("  "), IsEmpty());
}

// What Python 3 answers.
TEST(Unicode, LowerCase) {
  EXPECT_EQ(lower("ÄÖÜ STRASSE ẞ ЖΩ 狗1"), "äöü strasse ß жω 狗1");
  EXPECT_EQ(lower("İ"), "i\u0307");
  EXPECT_EQ(lower("ΟΔΥΣΣΕΥΣ ΣΑΣ. Σ"), "οδυσσευς σας. σ");
  EXPECT_EQ(lower("ΑΣ’Α ΑΣ’ "), "ασ’α ας’ ");
  EXPECT_EQ(lower("A\xff"), "a\xff");
}

TEST(Unicode, WidthOnATerminal) {
  EXPECT_EQ(width(""), 0u);
  EXPECT_EQ(width("dog"), 3u);
  EXPECT_EQ(width("狗狗"), 4u);
  EXPECT_EQ(width("e\u0301"), 1u);
  EXPECT_EQ(width("🙂"), 2u);
  EXPECT_EQ(width("\n"), 0u);
}

}  // namespace
}  // namespace heed::unicode
