// JSON by nlohmann's event (SAX) interface. Its own tree is not used: it silently keeps the last of
// two equal keys, has no positions and does not limit the depth.
#include "heed/io/json.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace heed::io {
namespace {

// Counts how far the parser has read, because nlohmann's events do not tell.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  const char** furthest_;
};

// Finds the start and the line of the token that was just read. An event comes directly after its
// token; only after a number has the parser read one more character, to find its end.
class TokenPlace {
 public:
  explicit TokenPlace(std::string_view text) : text_(text), furthest_(text.data()) {}

  CountingIterator begin() { return {text_.data(), &furthest_}; }
  CountingIterator end() { return {text_.data() + text_.size(), &furthest_}; }

  Position of_string() {
    std::size_t quote = text_.rfind('"', read() - 2);  // the opening quote
    while (quote > 0 && text_[quote - 1] == '\\') quote = text_.rfind('"', quote - 1);
    return at(quote);
  }
  Position of_number() {
    const auto is_part = [](char c) {
      return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
    };
    std::size_t first = read();
    if (!is_part(text_[first - 1])) --first;
    while (first > 0 && is_part(text_[first - 1])) --first;
    return at(first);
  }
  Position of_last(std::size_t length) { return at(read() - std::min(length, read())); }

  // Tokens come in order, so each line is counted once.
  Position at(std::size_t byte) {
    for (; counted_ < byte; ++counted_) {
      if (text_[counted_] == '\n') ++line_, line_start_ = counted_ + 1;
    }
    return {line_, static_cast<std::uint32_t>(byte - line_start_ + 1), byte};
  }

 private:
  std::size_t read() const { return static_cast<std::size_t>(furthest_ - text_.data()); }

  std::string_view text_;
  const char* furthest_;
  std::size_t counted_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
};

// The reason in nlohmann's message "[json.exception…] parse error at line 1, column 2: reason; last
// read: 'token'; …". The token, which is raw bytes, is escaped.
std::string reason_of(std::string_view what, std::string_view token) {
  what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
  if (what.starts_with("parse error")) what.remove_prefix(what.find(": ") + 2);
  const std::string last_read = fmt::format("; last read: '{}'", token);
  const std::size_t at = what.find(last_read);
  if (at == std::string_view::npos) return std::string(what.substr(0, 100));
  return fmt::format("{}, after {}{}", what.substr(0, at), in_quotes(token),
                     what.substr(at + last_read.size()));
}

// Builds the tree from events; nlohmann prescribes the names of the functions.
class TreeBuilder {
 public:
  TreeBuilder(TokenPlace& place, std::string_view source, std::size_t max_values)
      : place_(place), source_(source), max_values_(max_values) {}

  Value take() { return std::move(root_); }

  bool null() { return add({}, place_.of_last(4)); }
  bool boolean(bool b) { return add({b}, place_.of_last(b ? 4 : 5)); }
  bool number_integer(std::int64_t n) { return add({n}, place_.of_number()); }
  bool number_unsigned(std::uint64_t n) {
    const bool fits = n <= std::numeric_limits<std::int64_t>::max();
    return fits ? number_integer(static_cast<std::int64_t>(n))
                : number_float(static_cast<double>(n), {});
  }
  bool number_float(double n, const std::string&) { return add({n}, place_.of_number()); }
  bool string(std::string& text) { return add({std::move(text)}, place_.of_string()); }
  bool binary(std::vector<std::uint8_t>&) { return false; }  // not in JSON text
  bool start_array(std::size_t) { return open({Value::List{}}); }
  bool start_object(std::size_t) { return open({Value::Table{}}); }
  bool end_array() { return close(); }
  bool end_object() {
    refuse_duplicates(*open_.back().value.table());
    return close();
  }
  bool key(std::string& text) {
    open_.back().key = std::move(text);
    open_.back().key_position = place_.of_string();
    return true;
  }
  template <typename Exception>
  bool parse_error(std::size_t, const std::string& token, const Exception& e) {
    throw ParseError("json", source_, place_.of_last(1), reason_of(e.what(), token));
  }

 private:
  struct Open {
    Value value;
    std::string key;  // of the member whose value comes next
    Position key_position;
  };

  // The position of the value that begins here: that of its key, if it has one.
  Position admit(Position own) {
    if (++count_ > max_values_) {
      throw ParseError("json", source_, own, fmt::format("over {} values", max_values_));
    }
    return !open_.empty() && open_.back().value.table() ? open_.back().key_position : own;
  }
  bool add(Value&& value, Position own) {
    value.position = admit(own);
    attach(std::move(value));
    return true;
  }
  void attach(Value&& value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Open& parent = open_.back(); parent.value.table()) {
      std::get<Value::Table>(parent.value.data)
          .push_back({std::move(parent.key), std::move(value)});
    } else {
      std::get<Value::List>(parent.value.data).push_back(std::move(value));
    }
  }
  bool open(Value&& value) {
    const Position own = place_.of_last(1);
    if (open_.size() >= kMaxDepth) {
      throw ParseError("json", source_, own, fmt::format("nested deeper than {}", kMaxDepth));
    }
    value.position = admit(own);
    open_.push_back({std::move(value), {}, {}});
    return true;
  }
  bool close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    attach(std::move(value));
    return true;
  }
  void refuse_duplicates(const Value::Table& table) const {
    std::vector<const Member*> members;
    for (const Member& m : table) members.push_back(&m);
    const auto before = [](const Member* a, const Member* b) {
      const int order = a->key.compare(b->key);
      return order < 0 || (order == 0 && a->value.position.byte < b->value.position.byte);
    };
    std::sort(members.begin(), members.end(), before);
    const auto same = [](const Member* a, const Member* b) { return a->key == b->key; };
    const auto it = std::adjacent_find(members.begin(), members.end(), same);
    if (it == members.end()) return;
    const Position& first = (*it)->value.position;
    throw ParseError("json", source_, it[1]->value.position,
                     fmt::format("key {} appears twice: first at line {}, column {}",
                                 in_quotes((*it)->key), first.line, first.column));
  }

  TokenPlace& place_;
  std::string_view source_;
  std::size_t max_values_;
  std::vector<Open> open_;
  Value root_;
  std::size_t count_ = 0;
};

}  // namespace

Value parse_json(std::string_view text, std::string_view source, std::size_t max_values) {
  TokenPlace place(text);
  // nlohmann takes a zero byte for the end of the text and would ignore what follows it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    throw ParseError("json", source, place.at(zero), "a zero byte");
  }
  TreeBuilder builder(place, source, max_values);
  nlohmann::json::sax_parse(place.begin(), place.end(), &builder);
  return builder.take();
}

}  // namespace heed::io
