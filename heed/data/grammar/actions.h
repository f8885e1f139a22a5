// Sentences of somebody doing something: Tom did not buy apples for Mary at the market yesterday.
// What Chinese needs to know before the verb (when, with whom, whether, where, for whom), English
// says behind it: 汤姆昨天没在市场给玛丽买苹果.
#pragma once

#include "heed/data/grammar/phrase.h"

namespace heed::grammar {

/// A clause and the mark it ends with.
struct Clause {
  Phrase phrase;
  char mark = '.';
};

/// Somebody does something to something: a statement, a negation or a question, in any tense.
Clause action(Speaker& speaker);
/// The same, always a statement and always short: half of a longer sentence.
Clause short_action(Speaker& speaker);
/// Somebody gives something to somebody.
Clause giving(Speaker& speaker);
/// Somebody goes somewhere by some means.
Clause journey(Speaker& speaker);

}  // namespace heed::grammar
