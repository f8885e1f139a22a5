// Places: in the park (在公园里), next to the bank (在银行旁边), on the table (在桌子上).
#pragma once

#include <cstdint>

#include "heed/data/grammar/nouns.h"
#include "heed/data/grammar/phrase.h"

namespace heed::grammar {

/// What people do at a place.
enum PlaceKind : std::uint32_t {
  kShopping = 1u << 0,
  kMeals = 1u << 1,
  kQuiet = 1u << 2,
  kOutdoors = 1u << 3,
  kKitchen = 1u << 4,
  kYard = 1u << 5,     // where things are washed and repaired
  kGarden = 1u << 6,   // where things are picked
  kAnimals = 1u << 7,  // where animals are fed
  kLending = 1u << 8,
  kFilms = 1u << 9,
};

struct Place {
  Words english;
  Words at;       ///< 在
  Words chinese;  ///< 公园里
};

/// A place of one of the given kinds.
Place any_place(Speaker& speaker, std::uint32_t kinds);
/// A place for a small thing: on the table.
Place any_spot(Speaker& speaker);
/// A place next to a building.
Place beside_building(Speaker& speaker);

/// The place for sentences without 在. An "at" that was linked only to 在 is linked to the name of
/// the place instead.
Place without_at(Place place);

/// A city.
Phrase any_city(Speaker& speaker);
/// A building as a destination, with "the".
Phrase any_building(Speaker& speaker);
/// A building as a countable noun, different from the one given in Chinese.
const Noun& any_building_noun(Speaker& speaker, std::string_view other_than);

}  // namespace heed::grammar
