#include "heed/data/grammar/things.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "heed/data/grammar/numbers.h"
#include "heed/data/grammar/people.h"

namespace heed::grammar {
namespace {

bool bare_adjective(const Adjective& adjective) {
  return adjective.rank == Rank::size || adjective.rank == Rank::age;
}

bool has_of(const Words& chinese) {
  return std::any_of(chinese.begin(), chinese.end(),
                     [](const Piece& piece) { return piece.text == "的"; });
}

// Adds up to two adjectives, in English in the order of ranks. Chinese puts those of size and age
// next to the noun: a small red umbrella is 红色的小雨伞. Only one 的 is used before a noun:
// 漂亮的红色围巾.
Phrase described(Speaker& speaker, const Noun& noun, Phrase kernel, bool after_of) {
  const auto fits = [&](const Adjective& adjective) { return (adjective.fits & noun.kinds) != 0; };
  const bool any = std::any_of(std::begin(kAdjectives), std::end(kAdjectives), fits);
  const int wanted = speaker.below(100);
  if (!any || !noun.container.empty() || wanted < 50) return kernel;
  std::vector<Adjective> chosen;
  chosen.push_back(speaker.pick(kAdjectives, fits));
  if (wanted >= 85) {
    const Adjective second = speaker.pick(kAdjectives, fits);
    const bool both_bare = bare_adjective(chosen[0]) && bare_adjective(second);
    if (second.rank > chosen[0].rank && !both_bare) chosen.push_back(second);
  }
  Words english, with_of, plain;
  for (const Adjective& adjective : chosen) {
    const Phrase word = speaker.same(adjective.english, adjective.chinese);
    english = join(english, word.english);
    if (bare_adjective(adjective)) {
      plain = join(plain, word.chinese);
      continue;
    }
    with_of = join(with_of, word.chinese);
    const bool needed = adjective.rank != Rank::colour || (with_of.size() == 1 && !after_of);
    if (needed) with_of = join(with_of, weak("的", word.chinese[0].links[0]));
  }
  return {join(english, kernel.english), join(with_of, plain, kernel.chinese)};
}

// The noun, and the measure word before it and its adjectives. The measure word is linked to the
// container if there is one, else to both number and noun.
struct Kernel {
  Words container;  // "cups of"
  Phrase noun;
  Words measure;
};

Kernel kernel_of(Speaker& speaker, const Noun& noun, bool plural, int number_link) {
  const int link = speaker.link();
  if (noun.container.empty()) {
    return {{},
            {words(plural ? noun.plural : noun.singular, link), words(noun.chinese, link)},
            {{std::string(noun.measure), {number_link, link}, false}}};
  }
  const int container = speaker.link();
  return {join(words(plural ? noun.containers : noun.container, container), weak("of", container)),
          {words(noun.singular, link), words(noun.chinese, link)},
          words(noun.measure, container)};
}

}  // namespace

int any_count(Speaker& speaker) {
  const int kind = speaker.below(100);
  if (kind < 28) return 1;
  if (kind < 86) return speaker.between(2, 9);
  if (kind < 96) return speaker.between(10, 19);
  return speaker.between(20, 99);
}

Thing counted(Speaker& speaker, const Noun& noun) {
  return counted(speaker, noun, any_count(speaker));
}

Thing counted(Speaker& speaker, const Noun& noun, int count) {
  const int number = speaker.link();
  const Kernel kernel = kernel_of(speaker, noun, count > 1, number);
  const Phrase things = described(speaker, noun, kernel.noun, false);
  const Words english = join(kernel.container, things.english);
  return {{join(count == 1 ? article(english, number, true) : words(english_number(count), number),
                english),
           join(words(chinese_count(count), number), kernel.measure, things.chinese)},
          count > 1};
}

Thing pointed(Speaker& speaker, const Noun& noun) {
  const bool near = speaker.chance(50), plural = speaker.chance(40);
  const int that = speaker.link();
  const char* const chinese = near ? "这" : "那";
  if (!plural) {
    const Kernel kernel = kernel_of(speaker, noun, false, that);
    const Phrase things = described(speaker, noun, kernel.noun, false);
    return {{join(words(near ? "this" : "that", that), kernel.container, things.english),
             join(words(chinese, that), kernel.measure, things.chinese)},
            false};
  }
  const Words those = words(near ? "these" : "those", that);
  if (noun.container.empty() && speaker.chance(60)) {
    const Kernel kernel = kernel_of(speaker, noun, true, that);
    const Phrase things = described(speaker, noun, kernel.noun, false);
    return {{join(those, things.english),
             join(words(chinese, that), words("些", that), things.chinese)},
            true};
  }
  const Thing some = counted(speaker, noun, speaker.between(2, 9));
  return {{join(those, some.phrase.english), join(words(chinese, that), some.phrase.chinese)},
          true};
}

Thing owned(Speaker& speaker, const Noun& noun) {
  const bool plural = noun.container.empty() && speaker.chance(25);
  Phrase whose = owner(speaker);
  const Kernel kernel = kernel_of(speaker, noun, plural, whose.english[0].links[0]);
  const Phrase things = described(speaker, noun, kernel.noun, true);
  // Only one 的 here too: 他漂亮的房子.
  if (has_of(things.chinese)) whose.chinese.pop_back();
  return {{join(whose.english, things.english), join(whose.chinese, things.chinese)},
          plural || !noun.container.empty()};
}

Thing bare(Speaker& speaker, const Noun& noun) {
  const Kernel kernel = kernel_of(speaker, noun, true, speaker.link());
  return {described(speaker, noun, kernel.noun, false), true};
}

Thing how_many(Speaker& speaker, const Noun& noun) {
  const int number = speaker.link();
  const Kernel kernel = kernel_of(speaker, noun, true, number);
  const Phrase things = described(speaker, noun, kernel.noun, false);
  return {{join(words("how many", number), kernel.container, things.english),
           join(words("多少", number), kernel.measure, things.chinese)},
          true};
}

Thing any_object(Speaker& speaker, Kinds kinds) {
  const Noun& noun = any_noun(speaker, kinds);
  const int kind = speaker.below(100);
  if (kind < 50) return counted(speaker, noun);
  if (kind < 65) return pointed(speaker, noun);
  if (kind < 75 && noun.container.empty() && (kinds & kPerson) == 0) return owned(speaker, noun);
  if (kind < 85) return bare(speaker, noun);
  const Noun& other = any_noun(speaker, kinds);
  if (&other == &noun) return counted(speaker, noun);
  const Phrase first = counted(speaker, noun).phrase, second = counted(speaker, other).phrase;
  const Phrase both = speaker.same("and", "和");
  return {{join(first.english, both.english, second.english),
           join(first.chinese, both.chinese, second.chinese)},
          true};
}

const Noun& any_noun(Speaker& speaker, Kinds kinds) {
  const auto fits = [&](const Noun& noun) { return (noun.kinds & kinds) != 0; };
  if (kinds == kPerson) return speaker.pick(kProfessions);
  return speaker.pick(kThings, fits);
}

}  // namespace heed::grammar
