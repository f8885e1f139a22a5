// Parses the expressions of a chat template, with the precedence of Jinja: conditional, or, and,
// not, comparisons and `in`, + and -, ~, * / // %, unary signs, then filters and tests, then
// members, indices and calls.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/text/jinja/ast.h"
#include "heed/text/jinja/lexer.h"

namespace heed::jinja {

/// A position in the tokens of a template.
class TokenStream {
 public:
  TokenStream(std::vector<Token> tokens, std::string_view name)
      : tokens_(std::move(tokens)), name_(name) {}

  const Token& peek() const { return tokens_[at_]; }
  Token next() { return tokens_[at_ < tokens_.size() - 1 ? at_++ : at_]; }
  bool at(TokenKind kind) const { return peek().kind == kind; }
  bool at(TokenKind kind, std::string_view text) const { return at(kind) && peek().text == text; }
  bool at_op(std::string_view text) const { return at(TokenKind::op, text); }
  bool at_name(std::string_view text) const { return at(TokenKind::name, text); }
  /// True, and the token is consumed, if it is that operator or name.
  bool take_op(std::string_view text) { return at_op(text) && (next(), true); }
  bool take_name(std::string_view text) { return at_name(text) && (next(), true); }
  /// True if the token after this one is that operator or name.
  bool after(TokenKind kind, std::string_view text) const;
  void expect_op(std::string_view text);
  std::string expect_name(std::string_view what);

  template <typename... Args>
  [[noreturn]] void refuse(int line, fmt::format_string<Args...> format, Args&&... args) const {
    fail("[chat template] {}, line {}: {}", name_, line,
         fmt::format(format, std::forward<Args>(args)...));
  }
  /// The current token, for messages.
  std::string found() const;

 private:
  std::vector<Token> tokens_;
  std::string_view name_;
  std::size_t at_ = 0;
};

/// An expression with `if … else`, or a tuple without parentheses if `tuple` is true.
ExpressionRef parse_expression(TokenStream& tokens, bool tuple = false);
/// An expression without `if … else`, as after `in` in a for tag.
ExpressionRef parse_simple_expression(TokenStream& tokens);

}  // namespace heed::jinja
