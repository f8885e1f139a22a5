// People in sentences: I, Tom, my mother, Tom's teacher, the doctor, three young students.
#pragma once

#include <cstdint>

#include "heed/data/grammar/phrase.h"

namespace heed::grammar {

/// The form of a verb that agrees with a subject: I am, he is, they are.
enum class Agreement : std::uint8_t { first, third, plural };

struct Person {
  Words english;  ///< As a subject: "I".
  Words object;   ///< As an object: "me".
  Words chinese;
  Agreement agreement;
  bool pronoun = false;
};

/// Any person or group.
Person anybody(Speaker& speaker);
/// A person with a name or a relation.
Person somebody(Speaker& speaker);
/// A person with a name.
Person named(Speaker& speaker);
/// Another person than `one`, as a recipient or companion.
Person another(Speaker& speaker, const Person& one);
/// A possessive: "my", "Tom's", including 的.
Phrase owner(Speaker& speaker);

/// "am", "is", "are".
std::string_view be(Agreement agreement);
/// "do", "does".
std::string_view does(Agreement agreement);

}  // namespace heed::grammar
