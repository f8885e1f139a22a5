#include "heed/data/grammar/places.h"

#include <algorithm>

namespace heed::grammar {
namespace {

// English puts the preposition first, Chinese the side last: in the park is 公园里.
struct Spot {
  std::string_view side, english, chinese, chinese_side;
  std::uint32_t kinds = 0;
};

constexpr Spot kPlaces[] = {
    {"in", "the park", "公园", "里", kOutdoors | kMeals | kGarden | kAnimals},
    {"in", "the garden", "花园", "里", kOutdoors | kQuiet | kYard | kGarden | kAnimals},
    {"by", "the river", "河", "边", kOutdoors | kYard | kAnimals},
    {"at", "the zoo", "动物园", "", kOutdoors | kAnimals},
    {"at", "the station", "车站", "", kOutdoors | kShopping},
    {"at", "the airport", "机场", "", kOutdoors | kShopping | kMeals},
    {"at", "school", "学校", "", kQuiet | kMeals | kOutdoors | kLending | kFilms},
    {"in", "the library", "图书馆", "里", kQuiet | kLending},
    {"in", "the office", "办公室", "里", kQuiet | kMeals | kLending},
    {"at", "home", "家", "", kQuiet | kMeals | kKitchen | kYard | kAnimals | kFilms},
    {"in", "the kitchen", "厨房", "里", kMeals | kKitchen},
    {"in", "the bedroom", "卧室", "里", kQuiet | kFilms},
    {"in", "the restaurant", "饭馆", "里", kMeals | kKitchen},
    {"in", "the cinema", "电影院", "里", kFilms},
    {"in", "the shop", "商店", "里", kShopping},
    {"at", "the supermarket", "超市", "", kShopping},
    {"at", "the market", "市场", "", kShopping},
};

constexpr Spot kSpots[] = {
    {"on", "the table", "桌子", "上"},
    {"under", "the table", "桌子", "下面"},
    {"on", "the chair", "椅子", "上"},
    {"under", "the chair", "椅子", "下面"},
    {"on", "the bed", "床", "上"},
    {"under", "the bed", "床", "下面"},
    {"in", "the box", "箱子", "里"},
    {"in", "the bag", "包", "里"},
    {"in", "the room", "房间", "里"},
    {"behind", "the door", "门", "后面"},
    {"next to", "the window", "窗户", "旁边"},
    {"in front of", "the computer", "电脑", "前面"},
};

struct Side {
  std::string_view english, chinese;
};
constexpr Side kSides[] = {
    {"in front of", "前面"}, {"behind", "后面"}, {"next to", "旁边"}, {"near", "附近"}};

constexpr Noun kBuildings[] = {
    {"school", "schools", "学校", "所"},
    {"bank", "banks", "银行", "家"},
    {"library", "libraries", "图书馆", "座"},
    {"hospital", "hospitals", "医院", "家"},
    {"hotel", "hotels", "酒店", "家"},
    {"museum", "museums", "博物馆", "座"},
    {"post office", "post offices", "邮局", "家"},
    {"cinema", "cinemas", "电影院", "家"},
    {"bookshop", "bookshops", "书店", "家"},
};

constexpr Side kCities[] = {
    {"Beijing", "北京"},  {"Shanghai", "上海"},  {"Guangzhou", "广州"}, {"Nanjing", "南京"},
    {"Hangzhou", "杭州"}, {"Hong Kong", "香港"}, {"London", "伦敦"},    {"Paris", "巴黎"},
    {"Berlin", "柏林"},   {"Rome", "罗马"},      {"Tokyo", "东京"},     {"New York", "纽约"},
};

// The article has no counterpart in Chinese; it is linked to its noun.
Words with_article(std::string_view english, int link) {
  if (!english.starts_with("the ")) return words(english, link);
  return join(weak("the", link), words(english.substr(4), link));
}

Place place_of(Speaker& speaker, const Spot& spot) {
  const int side = speaker.link(), name = speaker.link();
  return {join(words(spot.side, side), with_article(spot.english, name)), words("在", side),
          join(words(spot.chinese, name), words(spot.chinese_side, side))};
}

Place in_city(Speaker& speaker) {
  const Phrase city = any_city(speaker);
  const Phrase in = speaker.same("in", "在");
  return {join(in.english, city.english), in.chinese, city.chinese};
}

}  // namespace

Place any_place(Speaker& speaker, std::uint32_t kinds) {
  const bool away = (kinds & (kOutdoors | kShopping)) != 0;
  if (away && speaker.chance(15)) return in_city(speaker);
  if (away && speaker.chance(25)) return beside_building(speaker);
  return place_of(
      speaker, speaker.pick(kPlaces, [&](const Spot& spot) { return (spot.kinds & kinds) != 0; }));
}

Place any_spot(Speaker& speaker) { return place_of(speaker, speaker.pick(kSpots)); }

Place beside_building(Speaker& speaker) {
  const Side& side = speaker.pick(kSides);
  const Noun& building = speaker.pick(kBuildings);
  const int where = speaker.link(), what = speaker.link();
  return {join(words(side.english, where), weak("the", what), words(building.singular, what)),
          words("在", where), join(words(building.chinese, what), words(side.chinese, where))};
}

Place without_at(Place place) {
  const int side = place.at[0].links[0];
  const bool said = std::any_of(place.chinese.begin(), place.chinese.end(),
                                [&](const Piece& piece) { return piece.links[0] == side; });
  for (Piece& word : place.english) {
    if (!said && word.links[0] == side) word = {word.text, place.chinese[0].links, false};
  }
  place.at.clear();
  return place;
}

Phrase any_city(Speaker& speaker) {
  const Side& city = speaker.pick(kCities);
  return speaker.same(city.english, city.chinese);
}

Phrase any_building(Speaker& speaker) {
  const Noun& building = speaker.pick(kBuildings);
  const int link = speaker.link();
  return {join(weak("the", link), words(building.singular, link)), words(building.chinese, link)};
}

const Noun& any_building_noun(Speaker& speaker, std::string_view other_than) {
  return speaker.pick(kBuildings, [&](const Noun& each) { return each.chinese != other_than; });
}

}  // namespace heed::grammar
