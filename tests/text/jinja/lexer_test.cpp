// Tokens of chat templates and the white space around tags.
#include "heed/text/jinja/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::jinja::lexer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The text between tags; tags are "%", "$" for prints.
std::string texts(std::string_view source) {
  std::string out;
  for (const Token& token : tokenize(source, "t")) {
    if (token.kind == TokenKind::data) out += token.text;
    if (token.kind == TokenKind::block_begin) out += '%';
    if (token.kind == TokenKind::print_begin) out += '$';
  }
  return out;
}

std::vector<std::string> tokens(const std::string& expression) {
  std::vector<std::string> out;
  for (const Token& token : tokenize("{{" + expression + "}}", "t")) {
    if (!token.text.empty()) out.push_back(token.text);
  }
  return out;
}

std::string error_of(const std::string& source) {
  return error_message([&] { tokenize(source, "t"); });
}

TEST(JinjaLexer, WhiteSpaceAroundTags) {
  EXPECT_EQ(texts("a\n  {% x %}\n  b"), "a\n%  b") << "lstrip_blocks and trim_blocks";
  EXPECT_EQ(texts("a\n  {{ x }}\n  b"), "a\n  $\n  b") << "not around prints";
  EXPECT_EQ(texts("a \n {%- x -%} \n b"), "a%b");
  EXPECT_EQ(texts("a\n  {%+ x +%}\n  b"), "a\n  %\n  b");
  EXPECT_EQ(texts("a  {% x %}\n  {% y %}b"), "a  %%b") << "not at the start of a line, then at one";
  EXPECT_EQ(texts("  {% x %}"), "%") << "the template starts a line";
  EXPECT_EQ(texts("a\n {# note #}\nb"), "a\nb");
  EXPECT_EQ(texts("a {#- note -#} b"), "ab");
  EXPECT_EQ(texts("a\r\nb\rc\n"), "a\nb\nc") << "one newline at the end is dropped";
}

TEST(JinjaLexer, Tokens) {
  EXPECT_THAT(tokens("a.b[1:-2] // 3.5 ~ 'x'"),
              ElementsAre("a", ".", "b", "[", "1", ":", "-", "2", "]", "//", "3.5", "~", "x"));
  EXPECT_THAT(tokens("{'a': {}} == b"), ElementsAre("{", "a", ":", "{", "}", "}", "==", "b"));
  EXPECT_THAT(tokens(R"('a\n\'\x41\u72d7\q')"), ElementsAre("a\n'A狗\\q"));
  EXPECT_EQ(tokenize("a\n{{\n b }}", "t")[2].line, 3);
}

TEST(JinjaLexer, WhatItDoesNotKnowIsRefused) {
  EXPECT_EQ(error_of("a\n{{ b"), "[chat template] t, line 2: a tag is not closed with }}");
  EXPECT_THAT(error_of("{% b"), HasSubstr("not closed with %}"));
  EXPECT_THAT(error_of("{# b"), HasSubstr("a comment {# is not closed"));
  EXPECT_THAT(error_of("\n\n{{ 'b"), HasSubstr("line 3: a string is not closed"));
  EXPECT_THAT(error_of("{{ ] }}"), HasSubstr("] closes nothing"));
  EXPECT_THAT(error_of("{{ (] }}"), HasSubstr("] closes nothing"));
  EXPECT_THAT(error_of("{{ $ }}"), HasSubstr("unexpected character \"$\""));
  EXPECT_THAT(error_of("{{ 1x }}"), HasSubstr("a number is followed by \"x\""));
  EXPECT_THAT(error_of("{{ 1234567890123456789 }}"), HasSubstr("the limit is 18"));
  EXPECT_THAT(error_of("{{ '\\xg' }}"), HasSubstr("needs 2 hexadecimal digits"));
}

}  // namespace
}  // namespace heed::jinja::lexer_test
