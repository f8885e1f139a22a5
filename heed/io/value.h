// The neutral tree that JSON and TOML are read into: values and their positions in the text. It
// keeps the types of both parsers out of the headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/base/error.h"

namespace heed::io {

/// A position in a text. Lines and columns count from 1; line 0 means that the position is not
/// known.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::size_t byte = 0;  ///< From 0; JSON only.
};

struct Member;

/// One value of a JSON or TOML document.
struct Value {
  using List = std::vector<Value>;
  /// In the order of the text (JSON) or of the keys (TOML). It is a type of its own because
  /// libstdc++ 12 takes a variant of strings and std::vectors for one that always has a value, and
  /// crashes when a copy of it runs out of memory.
  struct Table : std::vector<Member> {
    using std::vector<Member>::vector;
  };

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Table> data;
  Position position = {};  ///< Its position in the text; for a member of a table, that of its key.

  bool is_null() const { return std::holds_alternative<std::monostate>(data); }
  const bool* boolean() const { return std::get_if<bool>(&data); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
  const double* floating() const { return std::get_if<double>(&data); }
  const std::string* string() const { return std::get_if<std::string>(&data); }
  const List* list() const { return std::get_if<List>(&data); }
  const Table* table() const { return std::get_if<Table>(&data); }
};

/// A key and its value.
struct Member {
  std::string key;
  Value value;
};

/// The value of that key, or null.
const Value* find(const Value::Table& table, std::string_view key);

/// "an integer (3)", "a list", … for messages that say what was found.
std::string describe(const Value& value);

/// The text in quotes, with control characters and invalid UTF-8 escaped and long texts shortened,
/// safe for messages.
std::string in_quotes(std::string_view text);

/// "file:line:column", or only the source if the position is not known.
std::string to_string(std::string_view source, const Position& position);

/// Thrown for a text that is not valid JSON or TOML; `reason` is the message without the position.
class ParseError : public Error {
 public:
  ParseError(std::string_view format, std::string_view source, Position position,
             std::string reason);

  const Position position;
  const std::string reason;
};

/// The greatest nesting depth of lists and tables. Deeper texts are rejected, so that a hostile
/// text cannot exhaust the stack.
inline constexpr int kMaxDepth = 64;

}  // namespace heed::io
