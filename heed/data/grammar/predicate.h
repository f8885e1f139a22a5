// Tense and mood of a verb in both languages: English uses auxiliary verbs and endings, Chinese 了,
// 没, 不, 会, 正 and 吗.
#pragma once

#include <cstdint>

#include "heed/data/grammar/people.h"
#include "heed/data/grammar/phrase.h"
#include "heed/data/grammar/verbs.h"

namespace heed::grammar {

/// The tense of a predicate.
enum class Tense : std::uint8_t { past, future, habit, now, modal };
/// The mood of a predicate.
enum class Mood : std::uint8_t { statement, negation, question };

/// The parts of a predicate in both languages.
struct Predicate {
  Words helper;  ///< "did", "will not", "is": before the subject in questions.
  Words verb;    ///< "bought", "buy", "buying"
  Words before;  ///< 没, 会, 正, 想: before place and verb.
  Words main;    ///< 买
  Words aspect;  ///< 了
  Words ending;  ///< 吗
};

/// The predicate of a verb for a subject of the given agreement.
Predicate predicate(Speaker& speaker, const Verb& verb, Agreement agreement, Tense tense,
                    Mood mood);

}  // namespace heed::grammar
