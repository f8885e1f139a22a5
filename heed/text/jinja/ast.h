// The syntax tree of a chat template.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heed/text/jinja/value.h"

namespace heed::jinja {

struct Expression;
using ExpressionRef = std::unique_ptr<Expression>;

struct Argument {
  std::string name;  ///< Empty for a positional argument.
  ExpressionRef value;
};

/// An expression; `parts` are its operands in the order of the text.
struct Expression {
  enum class Kind : std::uint8_t {
    literal,      ///< `value`
    name,         ///< `text`
    list,         ///< parts
    dict,         ///< parts: keys and values in turn
    attribute,    ///< parts[0].text
    index,        ///< parts[0][parts[1]]
    slice,        ///< parts[0][parts[1]:parts[2]:parts[3]]; absent ones are null
    call,         ///< parts[0](arguments)
    filter,       ///< parts[0] | text(arguments)
    test,         ///< parts[0] is text(arguments); `negated` for `is not`
    unary,        ///< text parts[0]: "-", "+" or "not"
    binary,       ///< parts[0] text parts[1]: arithmetic, "~", "and", "or"
    comparison,   ///< parts[0] operators[0] parts[1] operators[1] …
    conditional,  ///< parts[0] if parts[1] else parts[2]; the last may be null
  };
  Kind kind = Kind::literal;
  int line = 1;
  int height = 1;  ///< Of the tree below.
  std::string text;
  Value value;
  bool negated = false;
  std::vector<ExpressionRef> parts;
  std::vector<Argument> arguments;
  std::vector<std::string> operators;
};

struct Statement;
using Body = std::vector<Statement>;

/// A condition and what it guards; `else` has no condition.
struct Branch {
  ExpressionRef condition;
  Body body;
};

struct Statement {
  enum class Kind : std::uint8_t {
    data,     ///< `text`
    print,    ///< `expression`
    choose,   ///< `branches`: if, elif, else
    loop,     ///< for `targets` in `expression` if `filter`: `body`, else `otherwise`
    assign,   ///< set `targets` = `expression`
    capture,  ///< set `targets`: `body`
    skip,     ///< continue
    stop,     ///< break
    group,    ///< `body` as it is (the tag `generation`)
  };
  Kind kind = Kind::data;
  int line = 1;
  std::string text;
  /// Names; the target of `set ns.x = …` is "ns.x".
  std::vector<std::string> targets;
  ExpressionRef expression;
  ExpressionRef filter;
  std::vector<Branch> branches;
  Body body;
  Body otherwise;
};

}  // namespace heed::jinja
