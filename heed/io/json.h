// Reads JSON into the neutral tree and writes it. nlohmann-json does the parsing and is used only
// in json.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "heed/io/value.h"

namespace heed::io {

/// The most values of a JSON text, read or written: 1.8 GB of memory. The tree of a text can be
/// many times its size, so that the size of a file does not limit it. A vocabulary has two values
/// for each token.
inline constexpr std::size_t kMaxValues = 32'000'000;

/// Reads one JSON document strictly: a duplicate key in an object, invalid UTF-8, text after the
/// document, nesting deeper than kMaxDepth and more values than the limit throw ParseError.
/// `source` names the text in messages. An integer beyond signed 64 bits becomes a double.
Value parse_json(std::string_view text, std::string_view source,
                 std::size_t max_values = kMaxValues);

/// Writes a tree as JSON, on one line or indented by two spaces. Throws on invalid UTF-8, on
/// numbers that are not finite, and on what parse_json() would not read: nesting deeper than
/// kMaxDepth, more values than the limit.
std::string write_json(const Value& value, bool indented, std::size_t max_values = kMaxValues);

/// A string quoted and escaped for JSON and TOML; throws on invalid UTF-8.
std::string quote_json(std::string_view text);

/// The shortest text that reads back as the same number, always with a point or an exponent; throws
/// if the number is not finite.
std::string number_text(double number);

}  // namespace heed::io
