// The neutral tree that JSON and TOML are read into: what was written and where it stands.
// It keeps both parsers' own types out of every header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heed/base/error.h"

namespace heed::io {

/// A place in a text. Lines and columns count from 1; line 0 says that the place is not known.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::size_t byte = 0;  ///< From 0; JSON only.
};

struct Member;

/// One value of a JSON or TOML document.
struct Value {
  using List = std::vector<Value>;
  using Table = std::vector<Member>;  // in the order of the text (JSON) or of the keys (TOML)

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Table> data;
  Position position = {};  ///< Where it stands; for a table's member, where its key does.

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

/// The member of that key, or null.
const Value* find(const Value::Table& table, std::string_view key);

/// "an integer (3)", "a list", … for messages that say what was found.
std::string describe(const Value& value);

/// The text in quotes with control characters and broken UTF-8 escaped, cut when long: safe in a
/// message.
std::string in_quotes(std::string_view text);

/// "file:line:column", or the source alone where the place is not known.
std::string to_string(std::string_view source, const Position& position);

/// A text that is not JSON or TOML; `reason` is the message without the place.
class ParseError : public Error {
 public:
  ParseError(std::string_view format, std::string_view source, Position position,
             std::string reason);

  const Position position;
  const std::string reason;
};

/// How deep lists and tables may stand in each other; deeper texts are refused, so that no hostile
/// text can exhaust the stack.
inline constexpr int kMaxDepth = 64;

}  // namespace heed::io
