// Expressions of chat templates: precedence, and limits.
#include "heed/text/jinja/expression_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::jinja::expression_parser_test {
namespace {

using testing::HasSubstr;

// The tree in prefix form.
std::string show(const Expression& e) {
  std::string out;
  switch (e.kind) {
    case Expression::Kind::literal:
      return to_repr(e.value);
    case Expression::Kind::name:
      return e.text;
    default:
      out = e.text.empty() ? std::to_string(static_cast<int>(e.kind)) : e.text;
  }
  for (const std::string& op : e.operators) out += op;
  out = (e.negated ? "!" : "") + out + "(";
  for (const ExpressionRef& part : e.parts) out += (part ? show(*part) : "_") + " ";
  for (const Argument& argument : e.arguments)
    out += argument.name + ":" + show(*argument.value) + " ";
  out.back() = out.back() == ' ' ? ')' : out.back();
  return out.back() == '(' ? out + ")" : out;
}

std::string tree(const std::string& source) {
  TokenStream tokens(tokenize("{{ " + source + " }}", "t"), "t");
  tokens.next();
  const std::string text = show(*parse_expression(tokens, true));
  EXPECT_TRUE(tokens.at(TokenKind::print_end)) << source;
  return text;
}

std::string error_of(const std::string& source) {
  return error_message([&] { tree(source); });
}

TEST(JinjaExpressions, Precedence) {
  EXPECT_EQ(tree("a or b and not c == d"), "or(a and(b not(12==(c d))))");
  EXPECT_EQ(tree("1 + 2 * 3 - 4"), "-(+(1 *(2 3)) 4)");
  EXPECT_EQ(tree("'a' + b | trim"), "+('a' trim(b))") << "filters bind tighter than +";
  EXPECT_EQ(tree("a ~ b + c"), "+(~(a b) c)");
  EXPECT_EQ(tree("not a is defined"), "not(defined(a))");
  EXPECT_EQ(tree("a is not none and b"), "and(!none(a) b)");
  EXPECT_EQ(tree("a if b else c if d else e"), "13(a b 13(c d e))");
  EXPECT_EQ(tree("a.b['c'](1, x=2)"), "7(5(b(a) 'c') :1 x:2)");
  EXPECT_EQ(tree("-a.b"), "-(b(a))");
  EXPECT_EQ(tree("a not in b"), "12not in(a b)");
  EXPECT_EQ(tree("a[1:]"), "6(a 1 _ _)");
  EXPECT_EQ(tree("a, b"), "2(a b)");
  EXPECT_EQ(tree("a is divisibleby 3 or b"), "or(divisibleby(a :3) b)");
}

TEST(JinjaExpressions, WrongOnesAreRefused) {
  EXPECT_THAT(error_of(""), HasSubstr("expected a value, found the end of the tag"));
  EXPECT_THAT(error_of("a +"), HasSubstr("expected a value"));
  EXPECT_THAT(error_of("a[]"), HasSubstr("an index is missing"));
  EXPECT_THAT(error_of("a[1:2:3:4]"), HasSubstr("more than three parts"));
  EXPECT_THAT(error_of("a | 3"), HasSubstr("expected the name of a filter, found \"3\""));
  EXPECT_THAT(error_of("a."), HasSubstr("expected the name of a member"));
  EXPECT_THAT(error_of("{1 2}"), HasSubstr("expected \":\", found \"2\""));
  EXPECT_THAT(error_of("[1 2]"), HasSubstr("expected \",\", found \"2\""));
}

TEST(JinjaExpressions, DepthAndLengthAreBounded) {
  EXPECT_THAT(error_of(std::string(100, '(') + "a" + std::string(100, ')')),
              HasSubstr("expressions are nested more than 60 deep"));
  std::string sum = "1";
  for (int i = 0; i < 500; ++i) sum += "+1";
  EXPECT_THAT(error_of(sum), HasSubstr("more than 400 operators in a row"));
  std::string members = "a";
  for (int i = 0; i < 500; ++i) members += ".a";
  EXPECT_THAT(error_of(members), HasSubstr("more than 400 operators in a row"));
  EXPECT_THAT(error_of(std::string(100, '-') + "a"), HasSubstr("nested more than 60 deep"));
}

}  // namespace
}  // namespace heed::jinja::expression_parser_test
