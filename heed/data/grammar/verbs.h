// The transitive verbs, with the kinds of their objects and places.
#pragma once

#include <cstdint>
#include <string_view>

#include "heed/data/grammar/nouns.h"
#include "heed/data/grammar/places.h"

namespace heed::grammar {

/// How a verb can be used.
enum VerbUse : std::uint32_t {
  kOnce = 1u << 0,      // a momentary action: never "is finding", never a habit
  kSamePast = 1u << 1,  // past and present are spelt alike, so the tense would be ambiguous
  kForOther = 1u << 2,  // done for somebody
};

/// A verb in both languages.
struct Verb {
  std::string_view base, third, past, ing;
  std::string_view chinese;
  Kinds objects;
  std::uint32_t places;
  std::uint32_t use = 0;
};

inline constexpr Verb kVerbs[] = {
    {"buy", "buys", "bought", "buying", "买", kGoods, kShopping, kForOther},
    {"sell", "sells", "sold", "selling", "卖", kGoods, kShopping},
    {"eat", "eats", "ate", "eating", "吃", kEaten, kMeals},
    {"drink", "drinks", "drank", "drinking", "喝", kDrunk, kMeals},
    {"cook", "cooks", "cooked", "cooking", "做", kCooked, kKitchen, kForOther},
    {"read", "reads", "read", "reading", "看", kRead, kQuiet, kSamePast},
    {"write", "writes", "wrote", "writing", "写", kWritten, kQuiet, kForOther},
    {"watch", "watches", "watched", "watching", "看", kWatched, kFilms},
    {"sing", "sings", "sang", "singing", "唱", kSung, kOutdoors | kQuiet, kForOther},
    {"see", "sees", "saw", "", "看见", kSeen, kOutdoors, kOnce},
    {"feed", "feeds", "fed", "feeding", "喂", kAnimal, kAnimals},
    {"draw", "draws", "drew", "drawing", "画", kDrawn, kOutdoors | kQuiet, kForOther},
    {"wash", "washes", "washed", "washing", "洗", kWashed, kYard},
    {"repair", "repairs", "repaired", "repairing", "修理", kRepaired, kYard, kForOther},
    {"borrow", "borrows", "borrowed", "borrowing", "借", kBorrowed, kLending},
    {"pick", "picks", "picked", "picking", "摘", kPicked, kGarden, kForOther},
    {"find", "finds", "found", "", "找到", kBorrowed, kOutdoors | kQuiet, kOnce},
    {"meet", "meets", "met", "", "遇见", kPerson, kOutdoors | kShopping, kOnce},
    {"help", "helps", "helped", "helping", "帮助", kPerson, kOutdoors | kQuiet},
    {"invite", "invites", "invited", "inviting", "邀请", kPerson, kQuiet},
};

/// Verbs before another verb: wants to buy.
struct Modal {
  std::string_view base, third, chinese;
  std::string_view negated;  // the Chinese form after 不
  bool with_do = false;      // negated with "do" (does not want to); else without (should not)
};

inline constexpr Modal kModals[] = {
    {"want to", "wants to", "想", "想", true},
    {"plan to", "plans to", "打算", "打算", true},
    {"can", "can", "可以", "能"},
    {"should", "should", "应该", "应该"},
};

}  // namespace heed::grammar
