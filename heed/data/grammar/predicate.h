// What tense and mood make of a verb in both languages: English has helping verbs and endings,
// Chinese 了, 没, 不, 会, 正 and 吗.
#pragma once

#include <cstdint>

#include "heed/data/grammar/people.h"
#include "heed/data/grammar/phrase.h"
#include "heed/data/grammar/verbs.h"

namespace heed::grammar {

enum class Tense : std::uint8_t { past, future, habit, now, modal };
enum class Mood : std::uint8_t { statement, negation, question };

struct Predicate {
  Words helper;  ///< "did", "will not", "is": before the subject in questions.
  Words verb;    ///< "bought", "buy", "buying"
  Words before;  ///< 没, 会, 正, 想: before place and verb.
  Words main;    ///< 买
  Words aspect;  ///< 了
  Words ending;  ///< 吗
};

/// A verb for a subject.
Predicate predicate(Speaker& speaker, const Verb& verb, Agreement agreement, Tense tense,
                    Mood mood);

}  // namespace heed::grammar
