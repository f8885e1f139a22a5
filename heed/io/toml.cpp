// TOML by toml++, and a look at the text beforehand for what would make toml++ exhaust the stack.
#include "heed/io/toml.h"

#include <toml++/toml.h>

#include <string>
#include <utility>

#include "heed/io/json.h"

namespace heed::io {
namespace {

Position position_of(const toml::source_region& region) {
  return {region.begin.line, region.begin.column, 0};
}

// toml++ 3.3 limits the nesting of values but not that of dotted keys: a key of 100,000 dots
// overflows the stack when its tables are destroyed. This walks the text outside strings and
// comments and refuses long keys and deep brackets. It need not be right about texts that are not
// TOML, only about what toml++ accepts up to its first error.
class DepthCheck {
 public:
  DepthCheck(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  void run() {
    while (at_ < text_.size()) step();
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '#') return skip_comment();
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '\n') ++line_, line_start_ = at_ + 1;
    if (c == '\n' || c == '=' || c == ',') dots_ = 0;
    if (c == '[' || c == '{') dots_ = 0, ++brackets_;
    if (c == ']' || c == '}') --brackets_;
    if (c == '.') ++dots_;
    if (dots_ >= kMaxDepth || brackets_ > kMaxDepth) {
      const Position here{line_, static_cast<std::uint32_t>(at_ - line_start_ + 1), 0};
      throw ParseError("toml", source_, here, fmt::format("nested deeper than {}", kMaxDepth));
    }
    ++at_;
  }
  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool many_lines = text_.substr(at_).starts_with(three);
    const std::string_view closing =
        many_lines ? std::string_view(three) : std::string_view(three).substr(2);
    at_ += closing.size();
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        if (!many_lines) return;
        ++line_, line_start_ = at_ + 1;
      }
      if (text_.substr(at_).starts_with(closing)) break;
      const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : 0;
      if (quote == '"' && text_[at_] == '\\' && (next == '"' || next == '\\')) ++at_;
    }
    at_ += closing.size();
    // Up to two quotes may stand inside, right before the closing three.
    while (many_lines && at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  std::string_view text_;
  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  int dots_ = 0;
  int brackets_ = 0;
};

class Converter {
 public:
  explicit Converter(std::string_view source) : source_(source) {}

  Value convert(const toml::node& node, Position position, int depth) const {
    if (depth > kMaxDepth) refuse(position, fmt::format("nested deeper than {}", kMaxDepth));
    Value value{{}, position};
    if (const auto* boolean = node.as_boolean()) {
      value.data = boolean->get();
    } else if (const auto* integer = node.as_integer()) {
      value.data = integer->get();
    } else if (const auto* floating = node.as_floating_point()) {
      value.data = floating->get();
    } else if (const auto* string = node.as_string()) {
      value.data = string->get();
    } else if (const auto* array = node.as_array()) {
      Value::List list;
      for (const toml::node& item : *array) {
        list.push_back(convert(item, position_of(item.source()), depth + 1));
      }
      value.data = std::move(list);
    } else if (const auto* table = node.as_table()) {
      Value::Table members;
      for (const auto& [key, item] : *table) {
        Value member = convert(item, position_of(key.source()), depth + 1);
        members.push_back({std::string(key.str()), std::move(member)});
      }
      value.data = std::move(members);
    } else {
      refuse(position, "a date or time: write it as a string in quotes");
    }
    return value;
  }

 private:
  [[noreturn]] void refuse(Position position, std::string reason) const {
    throw ParseError("toml", source_, position, std::move(reason));
  }

  std::string_view source_;
};

}  // namespace

Value parse_toml(std::string_view text, std::string_view source) {
  DepthCheck(text, source).run();
  try {
    const toml::table table = toml::parse(text);
    return Converter(source).convert(table, position_of(table.source()), 0);
  } catch (const toml::parse_error& e) {
    throw ParseError("toml", source, position_of(e.source()), std::string(e.description()));
  }
}

std::string toml_text(const Value& value) {
  HEED_ASSERT(!value.table());
  if (value.is_null()) return "\"none\"";
  if (!value.list()) return write_json(value, false);
  std::string text;
  for (const Value& item : *value.list()) {
    text.append(text.empty() ? "[" : ", ").append(toml_text(item));
  }
  return text.empty() ? "[]" : text + "]";
}

}  // namespace heed::io
