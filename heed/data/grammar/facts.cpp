#include "heed/data/grammar/facts.h"

#include <chrono>

#include "heed/data/grammar/numbers.h"
#include "heed/data/grammar/people.h"
#include "heed/data/grammar/places.h"
#include "heed/data/grammar/things.h"
#include "heed/data/grammar/times.h"

namespace heed::grammar {
namespace {

// The subject of a statement, and its agreement with "be".
struct Topic {
  Phrase phrase;
  Agreement agreement;
};

Topic topic(const Thing& thing) {
  return {thing.phrase, thing.plural ? Agreement::plural : Agreement::third};
}

Topic topic(const Person& person) { return {{person.english, person.chinese}, person.agreement}; }

Topic some(Speaker& speaker, const Noun& noun) {
  return topic(speaker.chance(60) ? pointed(speaker, noun) : owned(speaker, noun));
}

int link_of(const Phrase& phrase) { return phrase.english[0].links[0]; }

// "is" has no counterpart in Chinese; it is linked to the quality.
Words leaning_be(Agreement agreement, int link) { return weak(be(agreement), link); }

Clause compare(Speaker& speaker, const Topic& one, const Phrase& other, const Quality& by) {
  const Phrase more = speaker.same(by.more, by.chinese);
  const Words is = leaning_be(one.agreement, link_of(more));
  const int kind = speaker.below(100);
  if (kind < 25) {  // is not as big as
    const int no = speaker.link(), as = speaker.link();
    return {{join(one.phrase.english, is, words("not", no), weak("as", as),
                  words(by.english, link_of(more)), weak("as", as), other.english),
             join(one.phrase.chinese, Words{{"没有", {no, as}}}, other.chinese, more.chinese)},
            '.'};
  }
  const Phrase than = speaker.same("than", "比");
  if (kind < 45) {  // is it bigger?
    return {{join(is, one.phrase.english, more.english, than.english, other.english),
             join(one.phrase.chinese, than.chinese, other.chinese, more.chinese,
                  weak("吗", link_of(more)))},
            '?'};
  }
  Phrase much;
  if (kind < 65) much = speaker.same("much", "得多");
  if (kind >= 65 && kind < 80) much = speaker.same("a little", "一点");
  return {{join(one.phrase.english, is, much.english, more.english, than.english, other.english),
           join(one.phrase.chinese, than.chinese, other.chinese, more.chinese, much.chinese)},
          '.'};
}

// "Tom is two years older than Mary": 汤姆比玛丽大两岁.
Clause years_older(Speaker& speaker) {
  const Person one = named(speaker);
  Person other = named(speaker);
  while (same_text(one.chinese, other.chinese)) other = named(speaker);
  const int years = speaker.between(2, 30), old = speaker.link();
  const Phrase number = speaker.same(english_number(years), chinese_count(years));
  const Phrase unit = speaker.same("years", "岁"), than = speaker.same("than", "比");
  return {{join(one.english, leaning_be(one.agreement, old), number.english, unit.english,
                words("older", old), than.english, other.object),
           join(one.chinese, than.chinese, other.chinese, words("大", old), number.chinese,
                unit.chinese)},
          '.'};
}

bool is_of_person(const Quality& by) { return by.fits == kPerson; }

Clause born(Speaker& speaker) {
  const Person who = somebody(speaker);
  const int birth = speaker.link();
  const Phrase city = any_city(speaker), in = speaker.same("in", "在");
  const Phrase day = on(date(speaker, 1940, 2020).phrase);
  return {{join(who.english, weak("was", birth), words("born", birth), in.english, city.english,
                day.english),
           join(who.chinese, day.chinese, in.chinese, city.chinese, words("出生", birth))},
          '.'};
}

Clause weekday_of_date(Speaker& speaker) {
  const Date day = date(speaker, 1950, 2024);
  const std::chrono::weekday true_day{std::chrono::sys_days{std::chrono::year_month_day{
      std::chrono::year{day.year}, std::chrono::month{static_cast<unsigned>(day.month)},
      std::chrono::day{static_cast<unsigned>(day.day)}}}};
  const Phrase name = weekday(speaker, static_cast<int>(true_day.c_encoding()));
  const Phrase was = speaker.same("was", "是");
  return {{join(day.phrase.english, was.english, weak("a", link_of(name)), name.english),
           join(day.phrase.chinese, was.chinese, name.chinese)},
          '.'};
}

Clause birthday(Speaker& speaker) {
  const Phrase whose = owner(speaker);
  const Phrase birth = speaker.same("birthday", "生日");
  const Phrase is = speaker.same("is", "是");
  const Phrase day = day_of_year(speaker);
  return {{join(whose.english, birth.english, is.english, day.english),
           join(whose.chinese, birth.chinese, is.chinese, day.chinese)},
          '.'};
}

Clause time_now(Speaker& speaker) {
  const Phrase at = time_of_day(speaker);
  const Phrase present = speaker.same("now", "现在");
  const int is = speaker.link();
  return {{join(weak("it", is), words("is", is), at.english, present.english),
           join(present.chinese, words("是", is), at.chinese)},
          '.'};
}

Clause age(Speaker& speaker) {
  const Person who = somebody(speaker);
  const int years = speaker.between(2, 90);
  const Phrase number = speaker.same(english_number(years), chinese_count(years));
  const int old = speaker.link();
  return {
      {join(who.english, leaning_be(who.agreement, old), number.english, words("years old", old)),
       join(who.chinese, number.chinese, words("岁", old))},
      '.'};
}

Clause price(Speaker& speaker) {
  const Topic what = topic(pointed(speaker, any_noun(speaker, kGoods)));
  const int yuan = speaker.chance(60) ? speaker.between(2, 99) : 100 * speaker.between(1, 9);
  const Phrase number = speaker.same(english_number(yuan), chinese_count(yuan));
  const Phrase unit = speaker.same("yuan", "元");
  const Phrase cost = speaker.same(what.agreement == Agreement::third ? "costs" : "cost", "要");
  return {{join(what.phrase.english, cost.english, number.english, unit.english),
           join(what.phrase.chinese, cost.chinese, number.chinese, unit.chinese)},
          '.'};
}

struct Sky {
  std::string_view base, past, chinese;
};
constexpr Sky kSkies[] = {{"rain", "rained", "下雨"}, {"snow", "snowed", "下雪"}};

struct Warmth {
  std::string_view english, more, chinese;
};
constexpr Warmth kWarmths[] = {{"cold", "colder", "冷"},
                               {"hot", "hotter", "热"},
                               {"warm", "warmer", "暖和"},
                               {"cool", "cooler", "凉快"}};

// "It rained in Paris yesterday": 昨天巴黎下雨了.
Clause rain(Speaker& speaker) {
  const Sky& sky = speaker.pick(kSkies);
  const int falls = speaker.link(), helper = speaker.link();
  const Phrase city = any_city(speaker);
  const Words it = weak("it", falls);
  const Words where = join(weak("in", link_of(city)), city.english);
  const Words main = words(sky.chinese, falls), base = words(sky.base, falls);
  const int kind = speaker.below(100);
  const bool past = kind < 60;
  const Phrase when = past ? past_time(speaker) : future_time(speaker);
  const Words tail = join(where, when.english), head = join(when.chinese, city.chinese);
  const Words done = weak("了", falls), asking = weak("吗", helper);
  const Words did = weak("did", helper), will = words("will", helper), can = words("会", helper);
  const Phrase no = speaker.same("not", past ? "没" : "不");
  if (kind < 30) {
    return {{join(it, words(sky.past, falls), tail), join(head, main, done)}, '.'};
  }
  if (kind < 45) {
    const Words did_not = join(weak("did", link_of(no)), no.english);
    return {{join(it, did_not, base, tail), join(head, no.chinese, main)}, '.'};
  }
  if (past) return {{join(did, it, base, tail), join(head, main, done, asking)}, '?'};
  if (kind < 80) return {{join(it, will, base, tail), join(head, can, main)}, '.'};
  if (kind < 90) {
    return {{join(it, will, no.english, base, tail), join(head, no.chinese, can, main)}, '.'};
  }
  return {{join(will, it, base, tail), join(head, can, main, asking)}, '?'};
}

// "It was colder in Paris than in Rome yesterday": 昨天巴黎比罗马冷.
Clause warmth(Speaker& speaker) {
  const Warmth& degree = speaker.pick(kWarmths);
  const int feels = speaker.link();
  const Phrase city = any_city(speaker), when = past_time(speaker);
  const Words it_was = weak("it was", feels);
  const Words where = join(weak("in", link_of(city)), city.english);
  const Words head = join(when.chinese, city.chinese), main = words(degree.chinese, feels);
  const Phrase other = any_city(speaker);
  if (speaker.chance(50) || other.english[0].text == city.english[0].text) {
    const Phrase very = speaker.same("very", "很");
    return {{join(it_was, very.english, words(degree.english, feels), where, when.english),
             join(head, very.chinese, main)},
            '.'};
  }
  const Phrase than = speaker.same("than", "比");
  return {{join(it_was, words(degree.more, feels), where, than.english, weak("in", link_of(other)),
                other.english, when.english),
           join(head, than.chinese, other.chinese, main)},
          '.'};
}

}  // namespace

Clause comparison(Speaker& speaker) {
  const Quality& by = speaker.pick(kQualities);
  if (!is_of_person(by)) {
    const Noun& noun = any_noun(speaker, by.fits);
    const Noun& second = speaker.chance(60) ? noun : any_noun(speaker, by.fits);
    const Topic one = some(speaker, noun);
    while (true) {
      const Phrase other = some(speaker, second).phrase;
      if (same_text(other.chinese, one.phrase.chinese)) continue;
      return compare(speaker, one, other, by);
    }
  }
  if (speaker.chance(20)) return years_older(speaker);
  const Person one = anybody(speaker), other = another(speaker, one);
  return compare(speaker, topic(one), {other.object, other.chinese}, by);
}

Clause quality(Speaker& speaker) {
  const Quality& by = speaker.pick(kQualities);
  const Topic what =
      is_of_person(by) ? topic(anybody(speaker)) : some(speaker, any_noun(speaker, by.fits));
  const Phrase how = speaker.same(by.english, by.chinese);
  const Words is = leaning_be(what.agreement, link_of(how));
  const int kind = speaker.below(100);
  if (kind < 25) {
    return {{join(is, what.phrase.english, how.english),
             join(what.phrase.chinese, how.chinese, weak("吗", link_of(how)))},
            '?'};
  }
  const Phrase degree = kind < 75 ? speaker.same("very", "很") : speaker.same("not", "不");
  return {{join(what.phrase.english, is, degree.english, how.english),
           join(what.phrase.chinese, degree.chinese, how.chinese)},
          '.'};
}

Clause existence(Speaker& speaker) {
  const int kind = speaker.below(100);
  const bool building = kind < 15, animal = kind >= 15 && kind < 50;
  const Place where = without_at(building ? beside_building(speaker)
                                 : animal ? any_place(speaker, kOutdoors)
                                          : any_spot(speaker));
  const Noun& noun = building ? any_building_noun(speaker, where.chinese[0].text)
                              : any_noun(speaker, animal ? kAnimal : kSmall);
  const int there = speaker.link();
  const Thing what =
      building ? counted(speaker, noun, speaker.between(1, 3)) : counted(speaker, noun);
  const Words is = words(what.plural ? "are" : "is", there);
  const Words has = words("有", there);
  if (speaker.chance(20)) {
    return {{join(is, weak("there", there), what.phrase.english, where.english),
             join(where.chinese, has, what.phrase.chinese, weak("吗", there))},
            '?'};
  }
  return {{join(weak("there", there), is, what.phrase.english, where.english),
           join(where.chinese, has, what.phrase.chinese)},
          '.'};
}

Clause location(Speaker& speaker) {
  const Noun& noun = speaker.pick(kThings, [](const Noun& each) {
    return (each.kinds & kSmall) != 0 && each.container.empty();
  });
  const Topic what = topic(speaker.chance(70) ? owned(speaker, noun) : pointed(speaker, noun));
  const Place where = any_spot(speaker);
  const int in = where.at[0].links[0];
  const Words is = leaning_be(what.agreement, in);
  const int kind = speaker.below(100);
  if (kind < 20) {
    return {{join(is, what.phrase.english, where.english),
             join(what.phrase.chinese, where.at, where.chinese, weak("吗", in))},
            '?'};
  }
  const Phrase no = kind < 40 ? speaker.same("not", "不") : Phrase{};
  return {{join(what.phrase.english, is, no.english, where.english),
           join(what.phrase.chinese, no.chinese, where.at, where.chinese)},
          '.'};
}

Clause possession(Speaker& speaker) {
  const Person who = anybody(speaker);
  const Noun& noun = any_noun(speaker, kGoods | kAnimal | kSmall);
  const int has = speaker.link(), no = speaker.link();
  const bool third = who.agreement == Agreement::third;
  const int kind = speaker.below(100);
  if (kind < 25) {
    const Phrase what = bare(speaker, noun).phrase;
    return {{join(who.english, weak(does(who.agreement), no), words("not", no), words("have", has),
                  what.english),
             join(who.chinese, words("没", no), words("有", has), what.chinese)},
            '.'};
  }
  const Phrase what = counted(speaker, noun).phrase;
  if (kind < 45) {
    return {{join(weak(does(who.agreement), no), who.english, words("have", has), what.english),
             join(who.chinese, words("有", has), what.chinese, weak("吗", no))},
            '?'};
  }
  return {{join(who.english, words(third ? "has" : "have", has), what.english),
           join(who.chinese, words("有", has), what.chinese)},
          '.'};
}

Clause weather(Speaker& speaker) { return speaker.chance(60) ? rain(speaker) : warmth(speaker); }

Clause numbers_and_dates(Speaker& speaker) {
  constexpr Clause (*kPatterns[])(Speaker&) = {born,     born, weekday_of_date, birthday,
                                               time_now, age,  price,           price};
  return speaker.pick(kPatterns)(speaker);
}

}  // namespace heed::grammar
