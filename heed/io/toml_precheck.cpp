#include "heed/io/toml_precheck.h"

#include <algorithm>
#include <string>
#include <utility>

#include "heed/io/value.h"

namespace heed::io {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-';
}

// Walks the text outside strings and comments.
class Walk {
 public:
  Walk(std::string_view text, std::string_view source) : text_(text), source_(source) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = line_start_ = 3;  // a byte order mark
  }

  void run() {
    while (at_ < text_.size()) step();
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '#') return skip_comment();
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '[' || c == '{') open(c);
    if (c == ']' || c == '}') close(c == ']' ? '[' : '{');
    if (c == '=' && in_value()) refuse("a '=' inside a value");
    if (c == '=') after_equals_ = true;
    if (c == ',') after_equals_ = false;
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') dots_ = 0;
    if (c == '.') ++dots_;
    if (dots_ >= kMaxDepth || open_.size() > kMaxDepth) {
      refuse(fmt::format("nested deeper than {}", kMaxDepth));
    }
    // No config of heed has dates or times; a ':' more likely means YAML or JSON.
    if (c == '-' && in_value() && is_digit(text_[at_ - 1])) refuse("a date: write it in quotes");
    if (c == ':') refuse("a ':' outside a string: write key = value, and times in quotes");
    constexpr std::string_view kOthers = "[]{}=,.+ \t\r\n";
    if (!is_key_character(c) && kOthers.find(c) == std::string_view::npos) {
      refuse(fmt::format("{} outside a string", in_quotes(text_.substr(at_, 1))));
    }
    ++at_;
    if (c == '\n') begin_line();
  }

  // True inside a value (after '=' or in a list), false inside a key.
  bool in_value() const { return !in_header_ && (after_equals_ || open_.ends_with('[')); }

  // toml++ reads a number on through quotes and brackets that directly follow it.
  void check_apart() const {
    const std::string_view may_precede = in_value() ? "=,[ \t" : ",.{[ \t";
    if (at_ > line_start_ && may_precede.find(text_[at_ - 1]) == std::string_view::npos) {
      refuse("a string or bracket right after something else");
    }
  }

  void open(char bracket) {
    check_apart();
    if (bracket == '[' && open_.empty() && !after_equals_) check_header();
    open_.push_back(bracket);
    if (bracket == '{') after_equals_ = false;
  }

  void close(char opening) {
    if (!open_.ends_with(opening)) refuse("a closing bracket without an opening one");
    open_.pop_back();
    after_equals_ = true;  // the end of a value
  }

  // "[ name" or "[[ name"
  void check_header() {
    in_header_ = true;
    std::size_t name = at_ + 1;
    if (name < text_.size() && text_[name] == '[') ++name;
    name = text_.find_first_not_of(" \t", name);
    const char c =
        name < text_.size() ? text_[name] : '"';  // toml++ reports the end of the text itself
    if (!is_key_character(c) && c != '"' && c != '\'') refuse("the name of a table must follow");
  }

  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_string(char quote) {
    check_apart();
    const std::string three(3, quote);
    const bool many_lines = text_.substr(at_).starts_with(three);
    const std::string_view closing = std::string_view(three).substr(many_lines ? 0 : 2);
    at_ += closing.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(closing)) {
      const char c = text_[at_++];
      if (c == '\n' && !many_lines) return begin_line();  // an error that toml++ reports
      if (c == '\n') begin_line();
      if (c == '\\' && quote == '"') skip_escape(many_lines);
    }
    at_ = std::min(at_ + closing.size(), text_.size());
    // The content may end with up to two quotes, directly before the closing three.
    while (many_lines && at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  void skip_escape(bool many_lines) {
    if (!many_lines) {
      if (at_ < text_.size() && text_[at_] != '\n') ++at_;
      return;
    }
    const std::size_t next = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    if (next < text_.size() && static_cast<unsigned char>(text_[next]) >= 0x80) {
      refuse("a backslash must not be followed by a character beyond ASCII, even on the next line");
    }
    if (next == at_ && at_ < text_.size()) ++at_;
  }

  void begin_line() {
    ++line_, line_start_ = at_;
    if (open_.empty()) after_equals_ = in_header_ = false;
  }

  [[noreturn]] void refuse(std::string reason) const {
    const Position here{line_, static_cast<std::uint32_t>(at_ - line_start_ + 1), 0};
    throw ParseError("toml", source_, here, std::move(reason));
  }

  std::string_view text_;
  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::string open_;  // brackets that are still open
  int dots_ = 0;      // in the current key
  bool after_equals_ = false;
  bool in_header_ = false;
};

}  // namespace

void precheck_toml(std::string_view text, std::string_view source) { Walk(text, source).run(); }

}  // namespace heed::io
