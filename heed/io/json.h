// JSON in and out of the neutral tree; nlohmann-json does the reading, in json.cpp only.
#pragma once

#include <string>
#include <string_view>

#include "heed/io/value.h"

namespace heed::io {

/// Reads one JSON document, strictly: a key twice in an object, broken UTF-8, anything after the
/// document, nesting beyond kMaxDepth are a ParseError. `source` names the text in messages.
/// An integer beyond 64 bits (signed) becomes a double.
Value parse_json(std::string_view text, std::string_view source);

/// Writes a tree as JSON, on one line or indented by two spaces. Refuses broken UTF-8 and numbers
/// that JSON cannot hold.
std::string write_json(const Value& value, bool indented);

/// A string in JSON's quotes, which are TOML's too; refuses broken UTF-8.
std::string quote_json(std::string_view text);

/// The shortest text that reads back as the same number, always with a point or an exponent;
/// refuses what is not finite.
std::string number_text(double number);

}  // namespace heed::io
