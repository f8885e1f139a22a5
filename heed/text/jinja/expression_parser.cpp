#include "heed/text/jinja/expression_parser.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "heed/io/value.h"

namespace heed::jinja {
namespace {

constexpr int kMaxExpressionDepth = 60;
constexpr int kMaxHeight = 400;

class ExpressionParser {
 public:
  using Kind = Expression::Kind;

  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  ExpressionRef tuple_or_conditional() {
    ExpressionRef first = conditional();
    if (!tokens_.at_op(",")) return first;
    ExpressionRef tuple = make(Kind::list, first->line);
    adopt(*tuple, std::move(first));
    while (tokens_.take_op(",")) {
      if (ends()) break;
      adopt(*tuple, conditional());
    }
    return tuple;
  }

  ExpressionRef conditional() {
    const Deeper deeper(*this);
    ExpressionRef left = either();
    while (tokens_.at_name("if")) {
      ExpressionRef node = make(Kind::conditional, tokens_.next().line);
      adopt(*node, std::move(left));
      adopt(*node, either());
      adopt(*node, tokens_.take_name("else") ? conditional() : nullptr);
      left = std::move(node);
    }
    return left;
  }

  ExpressionRef either() {
    return chain({"or"}, TokenKind::name, [&] { return both(); });
  }

 private:
  // Counts nested expressions, so that a hostile template cannot exhaust the stack.
  struct Deeper {
    explicit Deeper(ExpressionParser& p) : parser(p) {
      if (++parser.depth_ > kMaxExpressionDepth) {
        parser.tokens_.refuse(parser.tokens_.peek().line,
                              "expressions are nested more than {} deep", kMaxExpressionDepth);
      }
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ExpressionParser& parser;
  };

  static ExpressionRef make(Kind kind, int line, std::string text = {}) {
    auto node = std::make_unique<Expression>();
    node->kind = kind;
    node->line = line;
    node->text = std::move(text);
    return node;
  }

  // Makes an expression a part of another one. The height of the tree is bounded, because it is
  // walked recursively.
  void adopt(Expression& node, ExpressionRef part) {
    if (part) grow(node, *part);
    node.parts.push_back(std::move(part));
  }
  void add_argument(Expression& node, Argument argument) {
    grow(node, *argument.value);
    node.arguments.push_back(std::move(argument));
  }
  void grow(Expression& node, const Expression& part) const {
    node.height = std::max(node.height, part.height + 1);
    if (node.height > kMaxHeight) {
      tokens_.refuse(node.line, "an expression has more than {} operators in a row", kMaxHeight);
    }
  }

  bool ends() const {
    return tokens_.at(TokenKind::block_end) || tokens_.at(TokenKind::print_end) ||
           tokens_.at_op(")") || tokens_.at_op("]");
  }

  // Operands of binary operators that associate to the left.
  template <typename Next>
  ExpressionRef chain(std::initializer_list<std::string_view> ops, TokenKind kind,
                      const Next& operand) {
    ExpressionRef left = operand();
    while (true) {
      bool found = false;
      for (const std::string_view op : ops) found |= tokens_.at(kind, op);
      if (!found) return left;
      const Token op = tokens_.next();
      ExpressionRef node = make(Kind::binary, op.line, op.text);
      adopt(*node, std::move(left));
      adopt(*node, operand());
      left = std::move(node);
    }
  }

  ExpressionRef both() {
    return chain({"and"}, TokenKind::name, [&] { return negation(); });
  }

  ExpressionRef negation() {
    if (!tokens_.at_name("not")) return comparison();
    const Deeper deeper(*this);
    ExpressionRef node = make(Kind::unary, tokens_.next().line, "not");
    adopt(*node, negation());
    return node;
  }

  // The operator of a comparison here, or empty.
  std::string comparison_operator() {
    for (const char* op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (tokens_.take_op(op)) return op;
    }
    if (tokens_.take_name("in")) return "in";
    if (tokens_.at_name("not") && tokens_.after(TokenKind::name, "in")) {
      tokens_.next();
      tokens_.next();
      return "not in";
    }
    return "";
  }

  ExpressionRef comparison() {
    ExpressionRef left = sum();
    std::string op = comparison_operator();
    if (op.empty()) return left;
    ExpressionRef node = make(Kind::comparison, left->line);
    adopt(*node, std::move(left));
    for (; !op.empty(); op = comparison_operator()) {
      node->operators.push_back(op);
      adopt(*node, sum());
    }
    return node;
  }

  ExpressionRef sum() {
    return chain({"+", "-"}, TokenKind::op, [&] { return concatenation(); });
  }
  ExpressionRef concatenation() {
    return chain({"~"}, TokenKind::op, [&] { return product(); });
  }
  ExpressionRef product() {
    return chain({"*", "/", "//", "%"}, TokenKind::op, [&] { return signed_value(true); });
  }

  ExpressionRef signed_value(bool filtered) {
    ExpressionRef node;
    if (tokens_.at_op("-") || tokens_.at_op("+")) {
      const Deeper deeper(*this);
      const Token sign = tokens_.next();
      node = make(Kind::unary, sign.line, sign.text);
      adopt(*node, signed_value(false));
    } else {
      node = primary();
    }
    node = members(std::move(node));
    return filtered ? filters(std::move(node)) : std::move(node);
  }

  ExpressionRef primary() {
    const Deeper deeper(*this);
    const Token token = tokens_.next();
    ExpressionRef node = make(Kind::literal, token.line);
    switch (token.kind) {
      case TokenKind::name:
        return named(token);
      case TokenKind::integer:
        node->value = static_cast<std::int64_t>(std::strtoll(token.text.c_str(), nullptr, 10));
        return node;
      case TokenKind::real:
        node->value = std::strtod(token.text.c_str(), nullptr);
        return node;
      case TokenKind::string: {
        std::string text = token.text;  // neighbours are joined, as in Python
        while (tokens_.at(TokenKind::string)) text += tokens_.next().text;
        node->value = std::move(text);
        return node;
      }
      case TokenKind::op:
        if (token.text == "(") return parenthesis(token.line);
        if (token.text == "[") return sequence(make(Kind::list, token.line), "]");
        if (token.text == "{") return dictionary(token.line);
        [[fallthrough]];
      default:
        tokens_.refuse(token.line, "expected a value, found {}",
                       token.text.empty() ? "the end of the tag" : io::in_quotes(token.text));
    }
  }

  ExpressionRef named(const Token& token) {
    ExpressionRef node = make(Kind::literal, token.line);
    if (token.text == "true" || token.text == "True") {
      node->value = true;
    } else if (token.text == "false" || token.text == "False") {
      node->value = false;
    } else if (token.text != "none" && token.text != "None") {
      node = make(Kind::name, token.line, token.text);
    }
    return node;
  }

  ExpressionRef parenthesis(int line) {
    if (tokens_.take_op(")")) return make(Kind::list, line);
    ExpressionRef inner = tuple_or_conditional();
    tokens_.expect_op(")");
    return inner;
  }

  ExpressionRef sequence(ExpressionRef node, std::string_view end) {
    while (!tokens_.take_op(end)) {
      adopt(*node, conditional());
      if (!tokens_.at_op(end)) tokens_.expect_op(",");
    }
    return node;
  }

  ExpressionRef dictionary(int line) {
    ExpressionRef node = make(Kind::dict, line);
    while (!tokens_.take_op("}")) {
      adopt(*node, conditional());
      tokens_.expect_op(":");
      adopt(*node, conditional());
      if (!tokens_.at_op("}")) tokens_.expect_op(",");
    }
    return node;
  }

  // .name, [index], [from:to:step] and (arguments), as many as there are.
  ExpressionRef members(ExpressionRef object) {
    while (true) {
      const int line = tokens_.peek().line;
      ExpressionRef node;
      if (tokens_.take_op(".")) {
        node = make(Kind::attribute, line);
        if (tokens_.at(TokenKind::integer)) {
          node->kind = Kind::index;
          adopt(*node, std::move(object));
          adopt(*node, primary());
        } else {
          node->text = tokens_.expect_name("the name of a member");
          adopt(*node, std::move(object));
        }
      } else if (tokens_.take_op("[")) {
        node = subscript(std::move(object), line);
      } else if (tokens_.at_op("(")) {
        node = make(Kind::call, line);
        adopt(*node, std::move(object));
        read_arguments(*node);
      } else {
        return object;
      }
      object = std::move(node);
    }
  }

  ExpressionRef subscript(ExpressionRef object, int line) {
    ExpressionRef bounds[3];
    int colons = 0;
    while (!tokens_.at_op("]")) {
      if (tokens_.take_op(":")) {
        if (++colons > 2) tokens_.refuse(line, "a slice has more than three parts");
      } else if (bounds[colons]) {
        tokens_.expect_op("]");
      } else {
        bounds[colons] = conditional();
      }
    }
    tokens_.expect_op("]");
    if (colons == 0 && !bounds[0]) tokens_.refuse(line, "an index is missing between [ and ]");
    ExpressionRef node = make(colons > 0 ? Kind::slice : Kind::index, line);
    adopt(*node, std::move(object));
    adopt(*node, std::move(bounds[0]));
    if (colons == 0) return node;
    adopt(*node, std::move(bounds[1]));
    adopt(*node, std::move(bounds[2]));
    return node;
  }

  void read_arguments(Expression& node) {
    tokens_.expect_op("(");
    while (!tokens_.take_op(")")) {
      Argument argument;
      if (tokens_.at(TokenKind::name) && tokens_.after(TokenKind::op, "=")) {
        argument.name = tokens_.next().text;
        tokens_.next();
      }
      argument.value = conditional();
      add_argument(node, std::move(argument));
      if (!tokens_.at_op(")")) tokens_.expect_op(",");
    }
  }

  ExpressionRef filters(ExpressionRef value) {
    while (true) {
      const int line = tokens_.peek().line;
      ExpressionRef node;
      if (tokens_.take_op("|")) {
        node = make(Kind::filter, line, tokens_.expect_name("the name of a filter"));
        adopt(*node, std::move(value));
        if (tokens_.at_op("(")) read_arguments(*node);
      } else if (tokens_.take_name("is")) {
        node = make(Kind::test, line);
        node->negated = tokens_.take_name("not");
        node->text = tokens_.expect_name("the name of a test");
        adopt(*node, std::move(value));
        read_test_argument(*node);
      } else if (tokens_.at_op("(")) {
        tokens_.refuse(line, "the result of a filter cannot be called");
      } else {
        return value;
      }
      value = std::move(node);
    }
  }

  // `is divisibleby 3`: one argument may stand without parentheses.
  void read_test_argument(Expression& node) {
    if (tokens_.at_op("(")) {
      read_arguments(node);
      return;
    }
    const bool word = tokens_.at(TokenKind::name) && !tokens_.at_name("else") &&
                      !tokens_.at_name("or") && !tokens_.at_name("and") && !tokens_.at_name("if") &&
                      !tokens_.at_name("is") && !tokens_.at_name("in") && !tokens_.at_name("not");
    const bool literal = tokens_.at(TokenKind::string) || tokens_.at(TokenKind::integer) ||
                         tokens_.at(TokenKind::real) || tokens_.at_op("[") || tokens_.at_op("{");
    if (!word && !literal) return;
    Argument argument;
    argument.value = members(primary());
    add_argument(node, std::move(argument));
  }

  TokenStream& tokens_;
  int depth_ = 0;
};

}  // namespace

bool TokenStream::after(TokenKind kind, std::string_view text) const {
  return at_ + 1 < tokens_.size() && tokens_[at_ + 1].kind == kind && tokens_[at_ + 1].text == text;
}

void TokenStream::expect_op(std::string_view text) {
  if (!take_op(text)) refuse(peek().line, "expected {}, found {}", io::in_quotes(text), found());
}

std::string TokenStream::expect_name(std::string_view what) {
  if (!at(TokenKind::name)) refuse(peek().line, "expected {}, found {}", what, found());
  return next().text;
}

std::string TokenStream::found() const {
  const Token& token = peek();
  if (token.kind == TokenKind::end) return "the end of the template";
  return token.text.empty() ? "the end of the tag" : io::in_quotes(token.text);
}

ExpressionRef parse_expression(TokenStream& tokens, bool tuple) {
  ExpressionParser parser(tokens);
  return tuple ? parser.tuple_or_conditional() : parser.conditional();
}

ExpressionRef parse_simple_expression(TokenStream& tokens) {
  return ExpressionParser(tokens).either();
}

}  // namespace heed::jinja
