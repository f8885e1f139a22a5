// Places: the side before in English, after in Chinese.
#include "heed/data/grammar/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/data/grammar/say.h"

namespace heed::grammar::places_test {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

template <typename Make>
std::set<std::string> many(const Make& make) {
  std::set<std::string> all;
  for (int i = 0; i < 3000; ++i) {
    Speaker speaker(1, i);
    const Place place = make(speaker);
    all.insert(both({place.english, join(place.at, place.chinese)}));
  }
  return all;
}

TEST(Places, FitWhatIsDone) {
  const auto shops = many([](Speaker& s) { return any_place(s, kShopping); });
  EXPECT_THAT(shops, IsSupersetOf({"in the shop = 在商店里", "at the market = 在市场",
                                   "in Beijing = 在北京", "next to the bank = 在银行旁边"}));
  EXPECT_THAT(shops, Not(Contains("in the bedroom = 在卧室里")));
  const auto kitchens = many([](Speaker& s) { return any_place(s, kKitchen); });
  EXPECT_THAT(kitchens, testing::UnorderedElementsAre("at home = 在家", "in the kitchen = 在厨房里",
                                                      "in the restaurant = 在饭馆里"));
}

TEST(Places, OfThings) {
  EXPECT_THAT(many(any_spot),
              IsSupersetOf({"on the table = 在桌子上", "under the bed = 在床下面",
                            "in the box = 在箱子里", "behind the door = 在门后面"}));
}

TEST(Places, NameBuildingsAndCities) {
  std::set<std::string> buildings, cities;
  for (int i = 0; i < 500; ++i) {
    Speaker speaker(1, i);
    buildings.insert(both(any_building(speaker)));
    cities.insert(both(any_city(speaker)));
    EXPECT_NE(any_building_noun(speaker, "银行").chinese, "银行");
  }
  EXPECT_THAT(buildings, IsSupersetOf({"the post office = 邮局", "the museum = 博物馆"}));
  EXPECT_THAT(cities, IsSupersetOf({"New York = 纽约", "Shanghai = 上海"}));
}

}  // namespace
}  // namespace heed::grammar::places_test
