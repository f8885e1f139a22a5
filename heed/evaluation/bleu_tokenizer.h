// The tokenisers of BLEU, as sacreBLEU has them: 13a is the script mteval-v13a of the WMT
// campaigns, intl is mteval-v14 with Unicode's punctuation and symbols, zh splits Chinese
// characters from each other, char splits all characters. Their oddities are kept: a score is
// comparable or worth nothing. Not the tokenizers of models (heed/text/tokenizer.h).
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "heed/io/codec.h"

namespace heed::evaluation {

/// How BLEU cuts a line into words.
enum class BleuTokenizer { v13a, intl, zh, character, none };

/// The names in signatures and flags.
constexpr std::array<io::EnumName<BleuTokenizer>, 5> enum_names(BleuTokenizer) {
  return {{{BleuTokenizer::v13a, "13a"},
           {BleuTokenizer::intl, "intl"},
           {BleuTokenizer::zh, "zh"},
           {BleuTokenizer::character, "char"},
           {BleuTokenizer::none, "none"}}};
}

/// The line with white space between its words.
std::u32string tokenize(std::u32string_view line, BleuTokenizer tokenizer);

}  // namespace heed::evaluation
