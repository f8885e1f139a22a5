// Text of files for the terminal and for messages.
#pragma once

#include <string>
#include <string_view>

namespace heed::io {

/// The text with everything escaped that would control a terminal or could not be seen: control
/// characters (C0, DEL, C1), bidirectional overrides and other characters without a glyph, and
/// bytes that are not UTF-8. Quotes and backslashes stay as they are. in_quotes() (value.h) escapes
/// the same, and quotes.
std::string printable(std::string_view text);

/// The same for a text of several lines, whose ends are kept.
std::string printable_lines(std::string_view text);

}  // namespace heed::io
