// The tokenisers of BLEU, as in sacreBLEU: 13a is the script mteval-v13a of the WMT campaigns, intl
// is mteval-v14 with Unicode punctuation and symbols, zh separates Chinese characters, char
// separates all characters. Their quirks are kept, because only equal tokenisation makes scores
// comparable. The tokenizers of models are in heed/text/tokenizer.h.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "heed/io/codec.h"

namespace heed::evaluation {

/// How BLEU splits a line into words.
enum class BleuTokenizer { v13a, intl, zh, character, none };

/// The names in signatures and flags.
constexpr std::array<io::EnumName<BleuTokenizer>, 5> enum_names(BleuTokenizer) {
  return {{{BleuTokenizer::v13a, "13a"},
           {BleuTokenizer::intl, "intl"},
           {BleuTokenizer::zh, "zh"},
           {BleuTokenizer::character, "char"},
           {BleuTokenizer::none, "none"}}};
}

/// The line with white space between its tokens.
std::u32string tokenize(std::u32string_view line, BleuTokenizer tokenizer);

}  // namespace heed::evaluation
