#include "heed/text/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/text/unicode.h"

namespace heed::jinja {
namespace {

bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }
bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

// Newlines become \n, and one at the end is dropped, as Jinja does.
std::string normalised(std::string_view source) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const bool pair = source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n';
    if (!pair) text += source[i] == '\r' ? '\n' : source[i];
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view name)
      : source_(normalised(source)), name_(name) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) read_data();
    add(TokenKind::end, "");
    return std::move(tokens_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("[chat template] {}, line {}: {}", name_, line_,
         fmt::format(format, std::forward<Args>(args)...));
  }

  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }

  bool ahead(std::string_view text) const {
    return std::string_view(source_).substr(at_).starts_with(text);
  }
  char peek(std::size_t offset = 0) const {
    return at_ + offset < source_.size() ? source_[at_ + offset] : '\0';
  }
  void skip(std::size_t count) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(at_ + count),
                                         '\n'));
    at_ += count;
  }

  // The text up to the next tag, then the tag.
  void read_data() {
    std::size_t tag = at_;
    const auto opens = [&](std::size_t i) {
      const char c = i + 1 < source_.size() ? source_[i + 1] : '\0';
      return source_[i] == '{' && (c == '{' || c == '%' || c == '#');
    };
    while (tag < source_.size() && !opens(tag)) ++tag;
    std::string text = source_.substr(at_, tag - at_);
    if (tag < source_.size()) {
      const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
      strip_before(text, sign, source_[tag + 1] != '{');
    }
    if (!text.empty()) add(TokenKind::data, std::move(text));
    skip(tag - at_);
    if (at_ == source_.size()) return;
    const char kind = peek(1);
    skip(peek(2) == '-' || peek(2) == '+' ? 3 : 2);
    if (kind == '#') {
      read_comment();
    } else {
      read_tag(kind == '%');
    }
  }

  void strip_before(std::string& text, char sign, bool is_block) const {
    if (sign == '-') {
      while (!text.empty() && space(text.back())) text.pop_back();
    } else if (sign != '+' && is_block) {
      const std::size_t newline = text.rfind('\n');
      const std::size_t line = newline == text.npos ? 0 : newline + 1;
      if (newline == text.npos && !line_starts_) return;
      if (std::all_of(text.begin() + static_cast<std::ptrdiff_t>(line), text.end(), space)) {
        text.resize(line);
      }
    }
  }

  void read_comment() {
    const std::size_t end = source_.find("#}", at_);
    if (end == source_.npos) refuse("a comment {{# is not closed");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    skip(end - at_);
    close_tag(2, sign, true);
  }

  void read_tag(bool is_block) {
    add(is_block ? TokenKind::block_begin : TokenKind::print_begin, "");
    const std::string_view end = is_block ? "%}" : "}}";
    std::vector<char> open;
    while (true) {
      while (at_ < source_.size() && space(peek())) skip(1);
      if (at_ == source_.size()) refuse("a tag is not closed with {}", end);
      const char sign = peek();
      const bool signed_end = (sign == '-' || (sign == '+' && is_block)) &&
                              std::string_view(source_).substr(at_ + 1).starts_with(end);
      if (open.empty() && (ahead(end) || signed_end)) {
        add(is_block ? TokenKind::block_end : TokenKind::print_end, "");
        if (signed_end) skip(1);
        close_tag(2, signed_end ? sign : '\0', is_block);
        return;
      }
      read_token(open);
    }
  }

  // Removes white space after a tag.
  void close_tag(std::size_t size, char sign, bool trims) {
    skip(size);
    const std::size_t before = at_;
    if (sign == '-') {
      while (at_ < source_.size() && space(peek())) skip(1);
    } else if (trims && sign != '+' && peek() == '\n') {
      skip(1);
    }
    line_starts_ = at_ > before && source_[at_ - 1] == '\n';
  }

  void read_token(std::vector<char>& open) {
    const char c = peek();
    if (letter(c)) {
      std::size_t size = 1;
      while (letter(peek(size)) || digit(peek(size))) ++size;
      add(TokenKind::name, source_.substr(at_, size));
      skip(size);
    } else if (digit(c)) {
      read_number();
    } else if (c == '"' || c == '\'') {
      read_string(c);
    } else {
      read_operator(open);
    }
  }

  void read_number() {
    std::size_t size = 1;
    while (digit(peek(size))) ++size;
    const bool real = peek(size) == '.' && digit(peek(size + 1));
    if (real) {
      ++size;
      while (digit(peek(size))) ++size;
    }
    const std::size_t most = real ? 40 : 18;  // an integer of 18 digits fits into 64 bits
    if (size > most) refuse("a number has {} characters: the limit is {}", size, most);
    if (letter(peek(size)))
      refuse("a number is followed by {}", io::in_quotes({&source_[at_ + size], 1}));
    add(real ? TokenKind::real : TokenKind::integer, source_.substr(at_, size));
    skip(size);
  }

  void read_string(char quote) {
    std::string text;
    const int line = line_;
    skip(1);
    while (peek() != quote) {
      if (at_ == source_.size()) {
        line_ = line;
        refuse("a string is not closed");
      }
      if (peek() == '\\' && at_ + 1 < source_.size()) {
        read_escape(text);
      } else {
        text += peek();
        skip(1);
      }
    }
    skip(1);
    tokens_.push_back({TokenKind::string, std::move(text), line});
  }

  // The escapes of Python; an unknown one stays as it is.
  void read_escape(std::string& text) {
    constexpr std::string_view kLetters = "ntrabfv0\\'\"";
    constexpr std::string_view kMeanings("\n\t\r\a\b\f\v\0\\'\"", 11);
    const char c = peek(1);
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits > 0) {
      std::uint32_t code = 0;
      for (std::size_t i = 0; i < digits; ++i) {
        const char h = peek(2 + i);
        if (std::isxdigit(static_cast<unsigned char>(h)) == 0) {
          refuse("the escape \\{} needs {} hexadecimal digits", c, digits);
        }
        code = code * 16 + static_cast<std::uint32_t>(digit(h) ? h - '0' : (h | 32) - 'a' + 10);
      }
      unicode::append(text, code);
      skip(2 + digits);
      return;
    }
    const std::size_t known = kLetters.find(c);
    if (known != kLetters.npos) {
      text += kMeanings[known];
    } else if (c != '\n') {
      text += '\\';
      text += c;
    }
    skip(2);
  }

  void read_operator(std::vector<char>& open) {
    constexpr std::array<std::string_view, 28> kOperators = {
        "==", "!=", "<=", ">=", "//", "**", "+", "-", "*", "/", "%", "~", "<", ">",
        "=",  ".",  ":",  "|",  ",",  "(",  ")", "[", "]", "{", "}", ";", "!", "&"};
    for (const std::string_view op : kOperators) {
      if (!ahead(op)) continue;
      if (op == "(" || op == "[" || op == "{") open.push_back(op[0]);
      if (op == ")" || op == "]" || op == "}") {
        const char match = op == ")" ? '(' : op == "]" ? '[' : '{';
        if (open.empty() || open.back() != match) refuse("{} closes nothing", op);
        open.pop_back();
      }
      add(TokenKind::op, std::string(op));
      skip(op.size());
      return;
    }
    refuse("unexpected character {}", io::in_quotes({&source_[at_], 1}));
  }

  std::string source_;
  std::string_view name_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starts_ = true;  // the text begins at the start of a line
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source, std::string_view name) {
  return Lexer(source, name).run();
}

}  // namespace heed::jinja
