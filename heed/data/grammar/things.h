// Noun phrases: a red apple, three old books, these two cups of tea, my new umbrella.
#pragma once

#include "heed/data/grammar/nouns.h"
#include "heed/data/grammar/phrase.h"

namespace heed::grammar {

/// A noun phrase and its number.
struct Thing {
  Phrase phrase;
  bool plural = false;
};

/// A number of things, mostly small.
int any_count(Speaker& speaker);

/// "a red apple", "three red apples": 三个红色的苹果.
Thing counted(Speaker& speaker, const Noun& noun);
/// The same with a given number.
Thing counted(Speaker& speaker, const Noun& noun, int count);
/// "this apple", "those three apples": 那三个苹果, "these apples": 这些苹果.
Thing pointed(Speaker& speaker, const Noun& noun);
/// "my new apple", "Tom's apples".
Thing owned(Speaker& speaker, const Noun& noun);
/// "apples", "tea": without a number or article.
Thing bare(Speaker& speaker, const Noun& noun);
/// "how many apples": 多少个苹果.
Thing how_many(Speaker& speaker, const Noun& noun);
/// A noun phrase of a kind, as an object; sometimes two, "a pen and two books".
Thing any_object(Speaker& speaker, Kinds kinds);

/// A noun (thing or person) of a kind.
const Noun& any_noun(Speaker& speaker, Kinds kinds);

}  // namespace heed::grammar
