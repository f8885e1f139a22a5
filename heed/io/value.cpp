// Helpers of Value, all for messages.
#include "heed/io/value.h"

#include <algorithm>

namespace heed::io {

const Value* find(const Value::Table& table, std::string_view key) {
  const auto it =
      std::find_if(table.begin(), table.end(), [&](const Member& m) { return m.key == key; });
  return it == table.end() ? nullptr : &it->value;
}

std::string describe(const Value& value) {
  if (value.boolean()) return *value.boolean() ? "true" : "false";
  if (value.integer()) return fmt::format("the integer {}", *value.integer());
  if (value.floating()) return fmt::format("the float {}", *value.floating());
  if (value.string()) return fmt::format("the string {}", in_quotes(*value.string()));
  if (value.list()) return "a list";
  if (value.table()) return "a table";
  return "null";
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  if (text.size() <= kLongest) return fmt::format("{:?}", text);
  std::size_t cut = kLongest;
  const auto inside_character = [&] { return (static_cast<unsigned char>(text[cut]) >> 6) == 2; };
  while (cut > kLongest - 3 && inside_character()) --cut;
  return fmt::format("{:?}...", text.substr(0, cut));
}

std::string to_string(std::string_view source, const Position& position) {
  if (position.line == 0) return std::string(source);
  return fmt::format("{}:{}:{}", source, position.line, position.column);
}

ParseError::ParseError(std::string_view format, std::string_view source, Position where,
                       std::string why)
    : Error(fmt::format("[{}] {}: {}", format, to_string(source, where), why)),
      position(where),
      reason(std::move(why)) {}

}  // namespace heed::io
