#include "heed/text/jinja/parser.h"

#include <algorithm>
#include <utility>

#include "heed/io/value.h"
#include "heed/text/jinja/expression_parser.h"

namespace heed::jinja {
namespace {

constexpr int kMaxBlockDepth = 50;

class Parser {
 public:
  Parser(std::string_view source, std::string_view name) : tokens_(tokenize(source, name), name) {}

  Body run() {
    Body body = statements();
    if (!tokens_.at(TokenKind::end)) {  // a tag that ends a block stopped the statements
      tokens_.next();
      tokens_.refuse(tokens_.peek().line, "{} closes nothing", tokens_.found());
    }
    return body;
  }

 private:
  // Statements up to a tag that ends or divides the enclosing block, or the end.
  Body statements() {
    if (++depth_ > kMaxBlockDepth) {
      tokens_.refuse(tokens_.peek().line, "blocks are nested more than {} deep", kMaxBlockDepth);
    }
    Body body;
    while (!tokens_.at(TokenKind::end)) {
      const Token token = tokens_.peek();
      Statement statement;
      statement.line = token.line;
      if (token.kind == TokenKind::data) {
        statement.text = tokens_.next().text;
      } else if (token.kind == TokenKind::print_begin) {
        tokens_.next();
        statement.kind = Statement::Kind::print;
        statement.expression = parse_expression(tokens_, true);
        expect(TokenKind::print_end, "}}");
      } else {
        if (divides()) break;
        tokens_.next();
        read_tag(statement);
      }
      body.push_back(std::move(statement));
    }
    --depth_;
    return body;
  }

  bool divides() const {
    for (const char* name : {"elif", "else", "endif", "endfor", "endset", "endgeneration"}) {
      if (tokens_.after(TokenKind::name, name)) return true;
    }
    return false;
  }

  void expect(TokenKind kind, std::string_view end) {
    if (!tokens_.at(kind)) {
      tokens_.refuse(tokens_.peek().line, "expected {}, found {}", io::in_quotes(end),
                     tokens_.found());
    }
    tokens_.next();
  }
  void end_tag() { expect(TokenKind::block_end, "%}"); }

  // Consumes "{% name", and the rest of the tag if it is plain.
  void end_block(std::string_view name, int line) {
    const bool found = tokens_.at(TokenKind::block_begin) && tokens_.after(TokenKind::name, name);
    if (!found) tokens_.refuse(line, "this block is not closed with {{% {} %}}", name);
    tokens_.next();
    tokens_.next();
    end_tag();
  }

  // True, and consumed up to the name, if the next tag has that name.
  bool take_tag(std::string_view name) {
    if (!tokens_.at(TokenKind::block_begin) || !tokens_.after(TokenKind::name, name)) return false;
    tokens_.next();
    tokens_.next();
    return true;
  }

  void read_tag(Statement& statement) {
    const int line = tokens_.peek().line;
    const std::string name = tokens_.expect_name("the name of a tag");
    if (name == "if") {
      read_if(statement);
    } else if (name == "for") {
      read_for(statement);
    } else if (name == "set") {
      read_set(statement);
    } else if (name == "break" || name == "continue") {
      if (loops_ == 0) tokens_.refuse(line, "{} outside of a loop", name);
      statement.kind = name == "break" ? Statement::Kind::stop : Statement::Kind::skip;
      end_tag();
    } else if (name == "generation") {
      statement.kind = Statement::Kind::group;
      end_tag();
      statement.body = statements();
      end_block("endgeneration", line);
    } else {
      tokens_.refuse(line,
                     "the tag {} is not supported: heed knows if, for, set, break, continue and "
                     "generation",
                     io::in_quotes(name));
    }
  }

  void read_if(Statement& statement) {
    statement.kind = Statement::Kind::choose;
    do {
      Branch branch;
      branch.condition = parse_expression(tokens_, true);
      end_tag();
      branch.body = statements();
      statement.branches.push_back(std::move(branch));
    } while (take_tag("elif"));
    if (take_tag("else")) {
      end_tag();
      Branch branch;
      branch.body = statements();
      statement.branches.push_back(std::move(branch));
    }
    end_block("endif", statement.line);
  }

  void read_for(Statement& statement) {
    statement.kind = Statement::Kind::loop;
    statement.targets = names();
    if (!tokens_.take_name("in")) {
      tokens_.refuse(tokens_.peek().line, "expected \"in\", found {}", tokens_.found());
    }
    statement.expression = parse_simple_expression(tokens_);
    if (tokens_.take_name("if")) statement.filter = parse_expression(tokens_);
    if (tokens_.at_name("recursive")) {
      tokens_.refuse(tokens_.peek().line, "recursive loops are not supported");
    }
    end_tag();
    ++loops_;
    statement.body = statements();
    --loops_;
    if (take_tag("else")) {
      end_tag();
      statement.otherwise = statements();
    }
    end_block("endfor", statement.line);
  }

  void read_set(Statement& statement) {
    statement.targets = names();
    if (tokens_.take_op("=")) {
      statement.kind = Statement::Kind::assign;
      statement.expression = parse_expression(tokens_, true);
      end_tag();
      return;
    }
    statement.kind = Statement::Kind::capture;
    if (statement.targets.size() > 1) {
      tokens_.refuse(statement.line, "a set block has one name");
    }
    end_tag();
    statement.body = statements();
    end_block("endset", statement.line);
  }

  // "a", "a, b", "(a, b)" or "ns.a".
  std::vector<std::string> names() {
    std::vector<std::string> list;
    const bool enclosed = tokens_.take_op("(");
    do {
      std::string name = tokens_.expect_name("the name of a variable");
      if (tokens_.take_op("."))
        name.append(".").append(tokens_.expect_name("the name of a member"));
      list.push_back(std::move(name));
    } while (tokens_.take_op(","));
    if (enclosed) tokens_.expect_op(")");
    return list;
  }

  TokenStream tokens_;
  int depth_ = 0;
  int loops_ = 0;
};

}  // namespace

Body parse(std::string_view source, std::string_view name) { return Parser(source, name).run(); }

}  // namespace heed::jinja
