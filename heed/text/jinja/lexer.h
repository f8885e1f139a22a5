// Splits a template into text and tokens, with the white space control of Hugging Face's chat
// templates: a tag removes the white space before it in its line and one newline after it
// (lstrip_blocks and trim_blocks); `-` removes all white space on its side, `+` none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed::jinja {

enum class TokenKind : std::uint8_t {
  data,         ///< Text between tags.
  print_begin,  ///< {{
  print_end,    ///< }}
  block_begin,  ///< {%
  block_end,    ///< %}
  name,
  integer,
  real,
  string,  ///< Without quotes, escapes replaced.
  op,      ///< "==", "(", "|", …
  end,     ///< The end of the template.
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  int line = 1;
};

/// All tokens of a template, the last one `end`. `name` begins messages.
std::vector<Token> tokenize(std::string_view source, std::string_view name);

}  // namespace heed::jinja
