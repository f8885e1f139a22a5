#define PCRE2_CODE_UNIT_WIDTH 8
#include "heed/text/pipeline/regex.h"

#include <pcre2.h>

#include <array>
#include <new>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/text/unicode.h"

namespace heed::pipeline {
namespace {

// A match that needs more steps is given up: 5 million take about a tenth of a second compiled and
// under a second interpreted.
constexpr std::uint32_t kMatchLimit = 5'000'000;
constexpr std::uint32_t kDepthLimit = 20'000;
constexpr std::uint32_t kHeapLimitKib = 64 << 10;
constexpr std::size_t kMaxPattern = 64 << 10;

// The classes, as the inside of a bracket.
constexpr std::string_view kSpaces =
    "\\t-\\r "
    "\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}";
constexpr std::string_view kNotSpaces =
    "\\x{0}-\\x{8}\\x{E}-\\x{1F}!-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}"
    "\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}"
    "\\x{3001}-\\x{10FFFF}";
constexpr std::string_view kWords =
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}\\x{24B6}-\\x{24E9}"
    "\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}";

// Names of properties that PCRE2 does not know.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kProperties = {
    {{"letter", "L"},
     {"uppercaseletter", "Lu"},
     {"lowercaseletter", "Ll"},
     {"titlecaseletter", "Lt"},
     {"modifierletter", "Lm"},
     {"otherletter", "Lo"},
     {"mark", "M"},
     {"nonspacingmark", "Mn"},
     {"spacingmark", "Mc"},
     {"enclosingmark", "Me"},
     {"number", "N"},
     {"decimalnumber", "Nd"},
     {"digit", "Nd"},
     {"letternumber", "Nl"},
     {"othernumber", "No"},
     {"punctuation", "P"},
     {"punct", "P"},
     {"symbol", "S"},
     {"mathsymbol", "Sm"},
     {"currencysymbol", "Sc"},
     {"separator", "Z"},
     {"spaceseparator", "Zs"},
     {"other", "C"},
     {"space", "White_Space"}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kBrackets = {
    {{"[:space:]", kSpaces},
     {"[:punct:]", "\\p{P}\\p{S}"},
     {"[:word:]", kWords},
     {"[:alnum:]", "\\p{L}\\p{M}\\p{Nd}\\p{Nl}"}}};

class Translator {
 public:
  Translator(std::string_view pattern, std::string_view where) : in_(pattern), where_(where) {}

  std::string run() {
    while (at_ < in_.size()) {
      if (in_[at_] == '\\') {
        escape();
      } else if (in_[at_] == '[') {
        bracket();
      } else if (depth_ == 0 && in_.substr(at_).starts_with("(?")) {
        group();
      } else if (in_.substr(at_).starts_with("{,")) {
        out_ += "{0,";
        at_ += 2;
      } else {
        out_ += in_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail("[tokenizer] {}: the expression {} uses {}, which heed cannot translate", where_,
         io::in_quotes(in_), what);
  }

  // The flags of a group: Ruby's m is Perl's s.
  void group() {
    out_ += "(?";
    at_ += 2;
    const std::size_t end = in_.find_first_not_of("imxs-", at_);
    if (end == std::string_view::npos || (in_[end] != ':' && in_[end] != ')')) return;
    for (; at_ < end; ++at_) out_ += in_[at_] == 'm' ? 's' : in_[at_];
  }

  void put_class(std::string_view inside, bool negated = false) {
    if (depth_ > 0) {
      if (negated) refuse("a negated class in a bracket");
      out_ += inside;
    } else {
      out_ += negated ? "[^" : "[";
      out_ += inside;
      out_ += ']';
    }
  }

  void escape() {
    if (at_ + 1 >= in_.size()) refuse("a backslash at its end");
    const char c = in_[at_ + 1];
    switch (c) {
      case 's':
        put_class(kSpaces);
        break;
      case 'S':
        put_class(kNotSpaces);
        break;
      case 'w':
        put_class(kWords);
        break;
      case 'W':
        put_class(kWords, true);
        break;
      case 'h':
        put_class("0-9A-Fa-f");
        break;
      case 'H':
        put_class("0-9A-Fa-f", true);
        break;
      case 'p':
      case 'P':
        property();
        return;
      case 'u':
        code_point();
        return;
      default:
        out_ += '\\';
        out_ += c;
    }
    at_ += 2;
  }

  // \p{Letter} and \p{^Letter}; spaces, hyphens and underscores in names mean nothing.
  void property() {
    const std::size_t end = in_.find('}', at_);
    if (at_ + 2 >= in_.size() || in_[at_ + 2] != '{' || end == std::string_view::npos) {
      out_ += in_.substr(at_, 2);
      at_ += 2;
      return;
    }
    std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    std::string key;
    for (const char c : name) {
      if (c == '_' || c == '-' || c == ' ') continue;
      key += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    out_ += in_.substr(at_, 3);
    if (negated) out_ += '^';
    std::string_view known = name;
    for (const auto& [from, to] : kProperties) {
      if (key == from) known = to;
    }
    out_ += known;
    out_ += '}';
    at_ = end + 1;
  }

  // \u0041 and \u{41}
  void code_point() {
    if (in_.substr(at_ + 2).starts_with('{')) {
      out_ += "\\x";
      at_ += 2;
      return;
    }
    if (at_ + 6 > in_.size()) refuse("\\u without four digits");
    out_ += "\\x{";
    out_ += in_.substr(at_ + 2, 4);
    out_ += '}';
    at_ += 6;
  }

  // A bracket. One inside another adds to it in Ruby; its brackets are left out.
  void bracket() {
    out_ += '[';
    ++at_;
    ++depth_;
    if (in_.substr(at_).starts_with('^')) out_ += in_[at_++];
    if (in_.substr(at_).starts_with(']')) {
      out_ += "\\]";
      ++at_;
    }
    while (at_ < in_.size() && depth_ > 0) {
      const std::string_view rest = in_.substr(at_);
      if (rest.front() == '\\') {
        escape();
      } else if (rest.front() == ']') {
        ++at_;
        if (--depth_ == 0) out_ += ']';
      } else if (rest.starts_with("&&")) {
        refuse("an intersection of classes");
      } else if (rest.starts_with("[:")) {
        posix();
      } else if (rest.front() == '[') {
        if (rest.starts_with("[^")) refuse("a negated class in a bracket");
        ++at_;
        ++depth_;
      } else {
        out_ += in_[at_++];
      }
    }
    depth_ = 0;
  }

  void posix() {
    const std::size_t end = in_.find(":]", at_);
    if (end == std::string_view::npos) refuse("an open [:");
    const std::string_view name = in_.substr(at_, end + 2 - at_);
    std::string_view inside = name;
    for (const auto& [from, to] : kBrackets) {
      if (name == from) inside = to;
    }
    out_ += inside;
    at_ = end + 2;
  }

  std::string_view in_, where_;
  std::size_t at_ = 0;
  int depth_ = 0;  // of brackets
  std::string out_;
};

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

// PCRE2 returns null for what it has no memory for.
template <typename T>
T* made(T* object) {
  if (object == nullptr) throw std::bad_alloc();
  return object;
}

// What a match leaves: the place of the whole match.
class Found {
 public:
  Found() : data_(made(pcre2_match_data_create(1, nullptr))) {}
  ~Found() { pcre2_match_data_free(data_); }
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;

  pcre2_match_data* data() { return data_; }
  std::pair<std::size_t, std::size_t> place() const {
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(data_);
    return {ends[0], ends[1]};
  }

 private:
  pcre2_match_data* data_;
};

}  // namespace

std::string translate_regex(std::string_view pattern, std::string_view where) {
  return Translator(pattern, where).run();
}

struct Regex::Code {
  pcre2_code* code = nullptr;
  pcre2_match_context* limits = nullptr;
  std::string name;

  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() {
    pcre2_code_free(code);
    pcre2_match_context_free(limits);
  }

  // Whether there is a match at or after `from`; the first one.
  bool match(std::string_view text, std::size_t from, Found& found) const {
    const auto* const bytes = reinterpret_cast<PCRE2_SPTR>(text.data());
    int rc = pcre2_match(code, bytes, text.size(), from, PCRE2_NO_UTF_CHECK, found.data(), limits);
    // Compiled code has a small stack of its own; the interpreter has none.
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
      rc = pcre2_match(code, bytes, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                       found.data(), limits);
    }
    if (rc == PCRE2_ERROR_NOMATCH) return false;
    HEED_CHECK(rc >= 0, "[tokenizer] the expression {} cannot be matched with this text: {}", name,
               message_of(rc));
    return true;
  }
};

Regex::Regex(std::string_view pattern, std::string_view where) : code_(std::make_unique<Code>()) {
  HEED_CHECK(pattern.size() <= kMaxPattern,
             "[tokenizer] {}: the expression has {} bytes; the limit is {}", where, pattern.size(),
             kMaxPattern);
  const std::string translated = translate_regex(pattern, where);
  code_->name = io::in_quotes(pattern);
  int problem = 0;
  PCRE2_SIZE at = 0;
  pcre2_compile_context* const how = made(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(how, PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(how, 100);
  code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                              &problem, &at, how);
  pcre2_compile_context_free(how);
  HEED_CHECK(code_->code != nullptr, "[tokenizer] {}: the expression {} is not valid: {}", where,
             code_->name, message_of(problem));
  pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE);  // without JIT the interpreter is used
  code_->limits = made(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(code_->limits, kMatchLimit);
  pcre2_set_depth_limit(code_->limits, kDepthLimit);
  pcre2_set_heap_limit(code_->limits, kHeapLimitKib);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

void Regex::find(std::string_view text, std::vector<Match>& parts) const {
  std::size_t from = 0, covered = 0;
  std::optional<std::size_t> last_end;
  Found found;
  while (from <= text.size() && code_->match(text, from, found)) {
    const auto [first, end] = found.place();
    const std::size_t begin = std::min(first, end);  // \K may set the beginning after the end
    // An empty match directly after the last one does not count.
    if (begin == end && last_end == end) {
      from += from < text.size() ? unicode::front(text.substr(from)).bytes : 1;
      continue;
    }
    if (begin < covered) break;
    if (covered != begin) parts.push_back({covered, begin, false});
    parts.push_back({begin, end, true});
    covered = end;
    from = end;
    last_end = end;
  }
  if (covered != text.size()) parts.push_back({covered, text.size(), false});
}

void Pattern::find(std::string_view text, std::vector<Match>& parts) const {
  if (regex_ != nullptr) {
    regex_->find(text, parts);
    return;
  }
  std::size_t covered = 0;
  if (literal_.empty()) {  // an empty match between all characters
    for (std::size_t at = 0; at < text.size(); at += unicode::front(text.substr(at)).bytes) {
      if (covered != at) parts.push_back({covered, at, false});
      parts.push_back({at, at, true});
      covered = at;
    }
    if (covered != text.size()) parts.push_back({covered, text.size(), false});
    parts.push_back({text.size(), text.size(), true});
    return;
  }
  while (true) {
    const std::size_t begin = text.find(literal_, covered);
    if (begin == std::string_view::npos) break;
    if (covered != begin) parts.push_back({covered, begin, false});
    parts.push_back({begin, begin + literal_.size(), true});
    covered = begin + literal_.size();
  }
  if (covered != text.size()) parts.push_back({covered, text.size(), false});
}

}  // namespace heed::pipeline
