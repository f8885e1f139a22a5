// Sentences about actions: Tom did not buy apples for Mary at the market yesterday. Chinese puts
// the time, companion, negation, place and recipient before the verb; English puts most of them
// after it: 汤姆昨天没在市场给玛丽买苹果.
#pragma once

#include "heed/data/grammar/phrase.h"

namespace heed::grammar {

/// A clause and its final punctuation mark.
struct Clause {
  Phrase phrase;
  char mark = '.';
};

/// Somebody does something to something: a statement, a negation or a question, in any tense.
Clause action(Speaker& speaker);
/// A short statement, used as half of a longer sentence.
Clause short_action(Speaker& speaker);
/// Somebody gives something to somebody.
Clause giving(Speaker& speaker);
/// Somebody goes somewhere by some means.
Clause journey(Speaker& speaker);

}  // namespace heed::grammar
