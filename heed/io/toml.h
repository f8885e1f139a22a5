// TOML into the neutral tree; toml++ does the reading, in toml.cpp only.
#pragma once

#include <string>
#include <string_view>

#include "heed/io/value.h"

namespace heed::io {

/// Reads a TOML 1.0 document (a table); errors and nesting beyond kMaxDepth are a ParseError.
/// Dates and times are refused: nothing in heed takes one. `source` names the text in messages.
Value parse_toml(std::string_view text, std::string_view source);

/// A value as TOML writes it after "key = "; no tables. Null, which TOML lacks, is "none".
std::string toml_text(const Value& value);

}  // namespace heed::io
