// Lists of tokens as text files: one a line, alone or with its count behind it ("dog 17", as
// fairseq's dict.txt and subword-nmt's get-vocab write). Line n is token n of the list; where the
// special tokens stand, see Vocabulary. SentencePiece's .vocab files are not read: the .model
// beside them is.
#pragma once

#include <string>
#include <string_view>

#include "heed/text/vocabulary.h"

namespace heed {

/// Reads a list; `source` names it in messages, which say the line. Counts are read if every line
/// has one.
Vocabulary parse_word_list(std::string_view text, std::string_view source);

/// The list as text, with or without counts. Special tokens in front, their usual place, are left
/// out; elsewhere they are written, so that parse_word_list() gives the same vocabulary again.
std::string word_list_text(const Vocabulary& vocabulary, bool with_counts);

}  // namespace heed
