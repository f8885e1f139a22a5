// For tests of the grammar: a phrase as text, and the words that a link joins.
#pragma once

#include <string>

#include "heed/data/grammar/phrase.h"

namespace heed::grammar {

/// English words with spaces, Chinese without.
inline std::string english(const Words& words) {
  std::string text;
  for (const Piece& piece : words) text += (text.empty() ? "" : " ") + piece.text;
  return text;
}
inline std::string chinese(const Words& words) {
  std::string text;
  for (const Piece& piece : words) text += piece.text;
  return text;
}
/// "three books = 三本书"
inline std::string both(const Phrase& phrase) {
  return english(phrase.english) + " = " + chinese(phrase.chinese);
}

}  // namespace heed::grammar
