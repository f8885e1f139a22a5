// Reads JSON into the neutral tree and writes it. nlohmann-json does the parsing and is used only
// in json.cpp.
#pragma once

#include <string>
#include <string_view>

#include "heed/io/value.h"

namespace heed::io {

/// Reads one JSON document strictly: a duplicate key in an object, invalid UTF-8, text after the
/// document and nesting deeper than kMaxDepth throw ParseError. `source` names the text in
/// messages. An integer beyond signed 64 bits becomes a double.
Value parse_json(std::string_view text, std::string_view source);

/// Writes a tree as JSON, on one line or indented by two spaces. Throws on invalid UTF-8 and on
/// numbers that are not finite.
std::string write_json(const Value& value, bool indented);

/// A string quoted and escaped for JSON and TOML; throws on invalid UTF-8.
std::string quote_json(std::string_view text);

/// The shortest text that reads back as the same number, always with a point or an exponent; throws
/// if the number is not finite.
std::string number_text(double number);

}  // namespace heed::io
