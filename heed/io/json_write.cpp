// Writes the neutral tree as JSON. Numbers have the shortest text that reads back as the same
// number.
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "heed/io/json.h"

namespace heed::io {
namespace {

// The items of a list or table between brackets; one line each if indented.
template <typename Items, typename Item>
void append_items(std::string& out, const char* brackets, const Items& items, int indent,
                  Item item) {
  const bool indented = indent >= 0 && !items.empty();
  const int inner = indent >= 0 ? indent + 2 : indent;
  out += brackets[0];
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    if (indented) out.append("\n").append(static_cast<std::size_t>(inner), ' ');
    item(items[i], inner);
  }
  if (indented) out.append("\n").append(static_cast<std::size_t>(indent), ' ');
  out += brackets[1];
}

void append(std::string& out, const Value& value, int indent) {
  if (value.boolean()) {
    out += *value.boolean() ? "true" : "false";
  } else if (value.integer()) {
    out += fmt::format("{}", *value.integer());
  } else if (value.floating()) {
    out += number_text(*value.floating());
  } else if (value.string()) {
    out += quote_json(*value.string());
  } else if (value.list()) {
    append_items(out, "[]", *value.list(), indent,
                 [&](const Value& item, int inner) { append(out, item, inner); });
  } else if (value.table()) {
    append_items(out, "{}", *value.table(), indent, [&](const Member& member, int inner) {
      out.append(quote_json(member.key)).append(inner >= 0 ? ": " : ":");
      append(out, member.value, inner);
    });
  } else {
    out += "null";
  }
}

}  // namespace

std::string write_json(const Value& value, bool indented) {
  std::string out;
  append(out, value, indented ? 0 : -1);
  return out;
}

std::string quote_json(std::string_view text) {
  std::string out;
  try {
    out = nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    fail("[json] the string {} is not valid UTF-8", in_quotes(text));
  }
  // TOML forbids an unescaped DEL; JSON allows it escaped.
  for (std::size_t at = 0; (at = out.find('\x7f', at)) != std::string::npos;) {
    out.replace(at, 1, "\\u007f");
  }
  return out;
}

std::string number_text(double number) {
  HEED_CHECK(std::isfinite(number), "[json] the number {} is not finite: it cannot be written",
             number);
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace heed::io
