// Checks a text before toml++ (3.3) parses it, and rejects what toml++ does not handle safely:
// - It limits the nesting of values but not of dotted keys; a key of 100,000 dots overflows the
//   stack when its tables are destroyed.
// - Its parser assumes (by assert, or undefined behaviour without) some things that it does not
//   check: that a table's name begins like a key, that an item of a list does not begin with a
//   bracket of the wrong kind, and much about dates and times, which heed does not use.
// - Its test for white space is undefined for many characters beyond ASCII. They can reach it
//   directly after a number, and in a string after a backslash.
// The check need not be exact for texts that toml++ rejects anyway, only up to the first error.
#pragma once

#include <string_view>

namespace heed::io {

/// Throws ParseError if a text cannot be TOML or is nested too deeply.
void precheck_toml(std::string_view text, std::string_view source);

}  // namespace heed::io
