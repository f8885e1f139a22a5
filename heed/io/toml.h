// Reads TOML into the neutral tree. toml++ does the parsing and is used only in toml.cpp.
#pragma once

#include <string>
#include <string_view>

#include "heed/io/value.h"

namespace heed::io {

/// Reads a TOML 1.0 document (a table). Errors and nesting deeper than kMaxDepth throw ParseError.
/// Dates and times are rejected, because no config of heed has any. `source` names the text in
/// messages.
Value parse_toml(std::string_view text, std::string_view source);

/// A value, not a table, as TOML text after "key = ". Null, which TOML lacks, is written as "none".
std::string toml_text(const Value& value);

}  // namespace heed::io
