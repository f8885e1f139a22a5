// A look at a text before toml++ (3.3) parses it, for what toml++ must not see:
// - It limits the nesting of values but not of dotted keys; a key of 100,000 dots overflows the
//   stack when its tables are destroyed.
// - Its parser assumes (by assert, or undefined behaviour without) some things that it does not
//   check: that a table's name begins like a key, that a list's item does not begin with a bracket
//   of the wrong kind; and much about dates and times, which heed has no use for.
// - Its test for white space is undefined for many characters beyond ASCII. They can reach it right
//   after a number, and in a string after a backslash.
// It need not be right about what toml++ refuses anyway, only about texts up to the first error.
#pragma once

#include <string_view>

namespace heed::io {

/// Throws ParseError where a text cannot be TOML or is nested too deep for us.
void precheck_toml(std::string_view text, std::string_view source);

}  // namespace heed::io
