// The people of sentences: I, Tom, my mother, Tom's teacher, the doctor, three young students.
#pragma once

#include <cstdint>

#include "heed/data/grammar/phrase.h"

namespace heed::grammar {

/// Which form of a verb goes with a subject: I am, he is, they are.
enum class Agreement : std::uint8_t { first, third, plural };

struct Person {
  Words english;  ///< As a subject: "I".
  Words object;   ///< As an object: "me".
  Words chinese;
  Agreement agreement;
  bool pronoun = false;
};

/// Anybody who can do something.
Person anybody(Speaker& speaker);
/// Somebody with a name or a relation.
Person somebody(Speaker& speaker);
/// Somebody with a name.
Person named(Speaker& speaker);
/// Somebody else, whom things are given to or done together with.
Person another(Speaker& speaker, const Person& one);
/// "my", "Tom's": whose something is, 的 included.
Phrase owner(Speaker& speaker);

/// "am", "is", "are".
std::string_view be(Agreement agreement);
/// "do", "does".
std::string_view does(Agreement agreement);

}  // namespace heed::grammar
