// Lists of tokens as text files: one token per line, alone or followed by its count ("dog 17", as
// in fairseq's dict.txt and the output of subword-nmt's get-vocab). Line n is token n of the list;
// Vocabulary defines the place of special tokens. SentencePiece's .vocab files are not supported;
// use the .model file.
#pragma once

#include <string>
#include <string_view>

#include "heed/text/vocabulary.h"

namespace heed {

/// Reads a list; `source` names it in messages, which give the line. Counts are read if every line
/// has one.
Vocabulary parse_word_list(std::string_view text, std::string_view source);

/// The list as text, with or without counts. Special tokens at the start, their usual place, are
/// left out; elsewhere they are written, so that parse_word_list() returns the same vocabulary.
std::string word_list_text(const Vocabulary& vocabulary, bool with_counts);

}  // namespace heed
