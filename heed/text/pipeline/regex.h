// Regular expressions of tokenizers. They are written for Oniguruma (Ruby's syntax) or for Rust's
// regex; PCRE2 matches them after a translation of what it reads differently. Expressions that need
// too many steps on a text throw heed::Error.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed::pipeline {

/// A part of a text, and whether a pattern matched it.
struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool matched = false;

  friend bool operator==(const Match&, const Match&) = default;
};

/// A compiled expression. It is immutable, so threads may share it.
class Regex {
 public:
  /// Compiles an expression; an invalid one throws heed::Error. `where` names it in messages.
  Regex(std::string_view pattern, std::string_view where);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  /// Splits a text, which must be valid UTF-8, into matches and what is between them. The parts
  /// cover the text in order; an empty match is an empty part.
  void find(std::string_view text, std::vector<Match>& parts) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

/// An expression of Oniguruma as one of PCRE2. What cannot be translated throws heed::Error.
std::string translate_regex(std::string_view pattern, std::string_view where);

/// A pattern of a tokenizer: a text to find as it is, or an expression.
class Pattern {
 public:
  /// A text to find as it is.
  explicit Pattern(std::string literal) : literal_(std::move(literal)) {}
  explicit Pattern(Regex regex) : regex_(std::make_shared<Regex>(std::move(regex))) {}

  /// As Regex::find.
  void find(std::string_view text, std::vector<Match>& parts) const;

 private:
  std::string literal_;
  std::shared_ptr<const Regex> regex_;  // null: literal
};

}  // namespace heed::pipeline
