#include "heed/data/grammar/actions.h"

#include "heed/data/grammar/people.h"
#include "heed/data/grammar/places.h"
#include "heed/data/grammar/predicate.h"
#include "heed/data/grammar/things.h"
#include "heed/data/grammar/times.h"
#include "heed/data/grammar/verbs.h"

namespace heed::grammar {
namespace {

// All optional parts around subject, verb and object; absent parts are empty.
struct Setting {
  Phrase time = {};
  bool time_first = false;
  Phrase adverb = {};     // often
  Phrase companion = {};  // with Mary
  Phrase place = {};
  Phrase close = {};  // next to the verb: for Mary, by train
};

struct Parts {
  Tense tense;
  Mood mood;
  Person subject;
  Phrase object;
  Setting setting;
};

// At the start of an English sentence, a time ends with a comma; Chinese has none there.
Words with_comma(Words time) {
  if (!time.empty()) time.back().text += ',';
  return time;
}

Words english_of(const Parts& parts, const Predicate& verb) {
  const Setting& s = parts.setting;
  const Words front = s.time_first ? with_comma(s.time.english) : Words{};
  const Words back = s.time_first ? Words{} : s.time.english;
  const Words rest = join(verb.verb, parts.object.english, s.close.english, s.companion.english,
                          s.place.english, back);
  if (parts.mood == Mood::question) return join(verb.helper, parts.subject.english, rest);
  return join(front, parts.subject.english, s.adverb.english, verb.helper, rest);
}

Words chinese_of(const Parts& parts, const Predicate& verb) {
  const Setting& s = parts.setting;
  const Words front = s.time_first ? s.time.chinese : Words{};
  const Words middle = s.time_first ? Words{} : s.time.chinese;
  // 正 uses the 在 of a place; without a place it needs its own 在.
  const bool alone =
      parts.tense == Tense::now && s.companion.chinese.empty() && s.place.chinese.empty();
  const Words in = alone ? words("在", verb.before[0].links[0]) : Words{};
  return join(front, parts.subject.chinese, middle, s.adverb.chinese, verb.before, in,
              s.companion.chinese, s.place.chinese, s.close.chinese, verb.main, verb.aspect,
              parts.object.chinese, verb.ending);
}

Clause say(const Parts& parts, const Predicate& verb) {
  return {{english_of(parts, verb), chinese_of(parts, verb)},
          parts.mood == Mood::question ? '?' : '.'};
}

struct Manner {
  std::string_view english, chinese;
};
constexpr Manner kAdverbs[] = {
    {"often", "经常"}, {"always", "总是"}, {"sometimes", "有时"}, {"usually", "通常"}};
constexpr Manner kMeans[] = {{"by bus", "坐公共汽车"},
                             {"by taxi", "坐出租车"},
                             {"by bicycle", "骑自行车"},
                             {"by car", "开车"},
                             {"on foot", "走路"}};
constexpr Manner kFarMeans[] = {
    {"by train", "坐火车"}, {"by plane", "坐飞机"}, {"by ship", "坐船"}, {"by car", "开车"}};

constexpr Verb kGo = {"go to", "goes to", "went to", "", "去", 0, 0};
constexpr Verb kGivingVerbs[] = {
    {"give", "gives", "gave", "giving", "送给", kGoods, 0},
    {"lend", "lends", "lent", "lending", "借给", kBorrowed, 0},
    {"sell", "sells", "sold", "selling", "卖给", kGoods, 0},
    {"send", "sends", "sent", "sending", "寄给", kRead, 0},
};

Mood any_mood(Speaker& speaker) {
  const int kind = speaker.below(100);
  if (kind < 64) return Mood::statement;
  return kind < 82 ? Mood::negation : Mood::question;
}

// A statement of a habit says how often, with an adverb or a time. Other moods of a habit have no
// time, because "not every day" would mean something else in both languages.
void put_time(Speaker& speaker, Parts& parts) {
  Setting& s = parts.setting;
  const bool statement = parts.mood == Mood::statement;
  switch (parts.tense) {
    case Tense::past:
      if (speaker.chance(80)) s.time = past_time(speaker);
      break;
    case Tense::future:
      if (speaker.chance(80)) s.time = future_time(speaker);
      break;
    case Tense::modal:
      if (speaker.chance(40)) s.time = future_time(speaker);
      break;
    case Tense::now:
      break;
    case Tense::habit:
      if (statement && speaker.chance(40)) {
        const Manner& adverb = speaker.pick(kAdverbs);
        s.adverb = speaker.same(adverb.english, adverb.chinese);
      } else if (parts.mood != Mood::negation) {
        s.time = repeated_time(speaker);
      }
      break;
  }
  s.time_first = !s.time.english.empty() && parts.mood != Mood::question && speaker.chance(25);
}

void put_companion(Speaker& speaker, Parts& parts) {
  const Person who = another(speaker, parts.subject);
  const int with = speaker.link();
  parts.setting.companion = {join(words("with", with), who.object),
                             join(words("和", with), who.chinese, words("一起", with))};
}

void put_beneficiary(Speaker& speaker, Parts& parts) {
  const Person who = another(speaker, parts.subject);
  const Phrase for_whom = speaker.same("for", "给");
  parts.setting.close = {join(for_whom.english, who.object), join(for_whom.chinese, who.chinese)};
}

void put_place(Speaker& speaker, Parts& parts, std::uint32_t kinds) {
  const Place place = any_place(speaker, kinds);
  parts.setting.place = {place.english, join(place.at, place.chinese)};
}

Tense any_tense(Speaker& speaker) {
  const int kind = speaker.below(100);
  if (kind < 45) return Tense::past;
  if (kind < 60) return Tense::future;
  if (kind < 75) return Tense::habit;
  return kind < 88 ? Tense::modal : Tense::now;
}

bool fits(const Verb& verb, Tense tense, Mood mood) {
  if ((verb.use & kOnce) != 0) return tense == Tense::past || tense == Tense::future;
  return (verb.use & kSamePast) == 0 || tense != Tense::past || mood != Mood::statement;
}

// A negated verb has no counted object: he did not buy apples, or not that apple.
Phrase object_of(Speaker& speaker, Kinds kinds, Mood mood) {
  if (mood != Mood::negation) return any_object(speaker, kinds).phrase;
  const Noun& noun = any_noun(speaker, kinds);
  return (speaker.chance(60) ? bare(speaker, noun) : pointed(speaker, noun)).phrase;
}

Parts start(Speaker& speaker) {
  const Tense tense = any_tense(speaker);
  Mood mood = any_mood(speaker);
  if (tense == Tense::now && mood == Mood::negation) mood = Mood::statement;
  return {tense, mood, anybody(speaker), {}, {}};
}

// "How many apples did Tom buy?" The object contains the question word, so there is no 吗.
Clause ask_how_many(Speaker& speaker, Parts parts, const Verb& verb) {
  parts.mood = Mood::question;
  const Phrase things = how_many(speaker, any_noun(speaker, verb.objects)).phrase;
  parts.object = {{}, things.chinese};
  Predicate verbs = predicate(speaker, verb, parts.subject.agreement, parts.tense, parts.mood);
  // There is no 吗 that "did" could be linked to, so it is linked to the verb.
  if (parts.tense == Tense::past) verbs.helper[0].links = verbs.verb[0].links;
  verbs.ending.clear();
  const Clause asked = say(parts, verbs);
  return {{join(things.english, asked.phrase.english), asked.phrase.chinese}, '?'};
}

// "Who bought apples?": in both languages a statement with a question word as the subject.
Clause ask_who(Speaker& speaker, Parts parts, const Verb& verb) {
  const Phrase who = speaker.same("who", "谁");
  parts.mood = Mood::statement;
  parts.setting.time_first = false;
  parts.subject = {who.english, who.english, who.chinese, Agreement::third};
  parts.object = object_of(speaker, verb.objects, parts.mood);
  Clause asked =
      say(parts, predicate(speaker, verb, parts.subject.agreement, parts.tense, parts.mood));
  asked.mark = '?';
  return asked;
}

}  // namespace

Clause action(Speaker& speaker) {
  Parts parts = start(speaker);
  const Verb& verb =
      speaker.pick(kVerbs, [&](const Verb& each) { return fits(each, parts.tense, parts.mood); });
  put_time(speaker, parts);
  const int more = speaker.below(100);
  if (more < 12) put_companion(speaker, parts);
  if (more >= 12 && more < 35 && (verb.use & kForOther) != 0) put_beneficiary(speaker, parts);
  if (speaker.chance(60)) put_place(speaker, parts, verb.places);
  if (parts.mood == Mood::question && speaker.chance(25) &&
      (parts.tense == Tense::past || parts.tense == Tense::future)) {
    return ask_how_many(speaker, parts, verb);
  }
  const bool statement = parts.mood == Mood::statement;
  if (statement && more >= 35 && speaker.chance(6)) return ask_who(speaker, parts, verb);
  parts.object = object_of(speaker, verb.objects, parts.mood);
  return say(parts, predicate(speaker, verb, parts.subject.agreement, parts.tense, parts.mood));
}

Clause short_action(Speaker& speaker) {
  const Tense tense = speaker.chance(60) ? Tense::past : Tense::future;
  Parts parts{tense, Mood::statement, anybody(speaker), {}, {}};
  const Verb& verb =
      speaker.pick(kVerbs, [&](const Verb& each) { return fits(each, tense, parts.mood); });
  parts.object = counted(speaker, any_noun(speaker, verb.objects)).phrase;
  if (speaker.chance(40)) put_time(speaker, parts);
  parts.setting.time_first = false;
  return say(parts, predicate(speaker, verb, parts.subject.agreement, tense, parts.mood));
}

Clause giving(Speaker& speaker) {
  Parts parts = start(speaker);
  if (parts.tense == Tense::now) parts.tense = Tense::past;
  const Verb& verb = speaker.pick(kGivingVerbs);
  put_time(speaker, parts);
  const Person who = another(speaker, parts.subject);
  const Noun& noun = any_noun(speaker, verb.objects);
  const bool known = parts.mood == Mood::negation || speaker.chance(35);
  const Phrase what = (known ? pointed(speaker, noun) : counted(speaker, noun)).phrase;
  const Words to = weak("to", who.object[0].links[0]);
  const Words english =
      speaker.chance(50) ? join(who.object, what.english) : join(what.english, to, who.object);
  if (known) {  // 把那本书借给玛丽, but 借给玛丽一本书
    parts.setting.close = {{}, join(weak("把", what.english[0].links[0]), what.chinese)};
    parts.object = {english, who.chinese};
  } else {
    parts.object = {english, join(who.chinese, what.chinese)};
  }
  return say(parts, predicate(speaker, verb, parts.subject.agreement, parts.tense, parts.mood));
}

Clause journey(Speaker& speaker) {
  Parts parts = start(speaker);
  if (parts.tense == Tense::now) parts.tense = Tense::past;
  put_time(speaker, parts);
  const bool far = speaker.chance(50);
  parts.object = far ? any_city(speaker) : any_building(speaker);
  if (speaker.chance(60)) {
    const Manner& by = far ? speaker.pick(kFarMeans) : speaker.pick(kMeans);
    parts.setting.close = speaker.same(by.english, by.chinese);
  }
  if (speaker.chance(30)) put_companion(speaker, parts);
  return say(parts, predicate(speaker, kGo, parts.subject.agreement, parts.tense, parts.mood));
}

}  // namespace heed::grammar
