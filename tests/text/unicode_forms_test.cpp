// Normal forms with their changes, and the character classes of Hugging Face's tokenizers.
#include "heed/text/unicode_forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/text/unicode.h"

namespace heed::unicode::unicode_forms_test {
namespace {

std::string text_of(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) append(text, change.point);
  return text;
}

std::vector<int> changes_of(std::string_view text, Form form) {
  std::vector<int> all;
  for (const Change& change : normal_form(text, form)) all.push_back(change.change);
  return all;
}

TEST(UnicodeForms, NormalForms) {
  EXPECT_EQ(text_of(normal_form("é", Form::nfd)), "e\u0301");
  EXPECT_EQ(text_of(normal_form("e\u0301", Form::nfc)), "é");
  EXPECT_EQ(text_of(normal_form("ﬁ½", Form::nfkd)), "fi1⁄2");
  EXPECT_EQ(text_of(normal_form("ﬁ", Form::nfc)), "ﬁ");
  EXPECT_EQ(text_of(normal_form("\u1100\u1161\u11A8", Form::nfc)), "각");
  EXPECT_EQ(text_of(normal_form("각", Form::nfd)), "\u1100\u1161\u11A8");
  // Marks are ordered by class; a blocked one does not join.
  EXPECT_EQ(text_of(normal_form("a\u0315\u0300", Form::nfd)), "a\u0300\u0315");
  EXPECT_EQ(text_of(normal_form("a\u0315\u0300", Form::nfc)), "à\u0315");
  EXPECT_EQ(text_of(normal_form("a\u0301\u0301", Form::nfc)), "á\u0301");
}

TEST(UnicodeForms, ChangesSayWhatIsReplaced) {
  using testing::ElementsAre;
  EXPECT_THAT(changes_of("xé", Form::nfd), ElementsAre(0, 0, 1));
  EXPECT_THAT(changes_of("e\u0301x", Form::nfc), ElementsAre(-1, 0));
  EXPECT_THAT(changes_of("é", Form::nfc), ElementsAre(0));
  EXPECT_THAT(changes_of("\u1100\u1161\u11A8", Form::nfc), ElementsAre(-2));
}

TEST(UnicodeForms, Classes) {
  EXPECT_TRUE(is_white_space(0x3000) && is_white_space(0x85) && !is_white_space(0x200B));
  EXPECT_TRUE(is_combining_mark(0x301) && is_combining_mark(0x903) && !is_combining_mark(0x1ABF));
  EXPECT_TRUE(is_nonspacing_mark(0x301) && !is_nonspacing_mark(0x903) &&
              !is_nonspacing_mark(0x8D4));
  EXPECT_TRUE(is_control(0x1) && is_control(0x200B) && is_control(0xE000) && !is_control(0x378));
  EXPECT_TRUE(is_bert_punctuation(U'$') && is_bert_punctuation(0x3002) &&
              !is_bert_punctuation(0x2E43));
  EXPECT_TRUE(is_numeric(U'7') && is_numeric(0xBD) && !is_numeric(U'a'));
  EXPECT_TRUE(is_word(U'_') && is_word(0x301) && is_word(0x200D) && !is_word(U'-') &&
              !is_word(0xB2));
}

TEST(UnicodeForms, LowerCaseHasNoContext) {
  EXPECT_EQ(lower_of(U'A').first, U'a');
  EXPECT_EQ(lower_of(0x3A3).first, char32_t{0x3C3});
  EXPECT_EQ(lower_of(0x130).second, char32_t{0x307});
}

TEST(UnicodeForms, Graphemes) {
  EXPECT_EQ(first_grapheme("ab"), 1u);
  EXPECT_EQ(first_grapheme("e\u0301x"), 3u);
  EXPECT_EQ(first_grapheme("\r\n"), 2u);
  EXPECT_EQ(first_grapheme("👩‍👧x"), std::string_view("👩‍👧").size());
}

}  // namespace
}  // namespace heed::unicode::unicode_forms_test
