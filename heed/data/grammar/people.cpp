#include "heed/data/grammar/people.h"

#include "heed/data/grammar/things.h"

namespace heed::grammar {
namespace {

struct Pronoun {
  std::string_view subject, object, owner, chinese;
  Agreement agreement;
};

constexpr Pronoun kPronouns[] = {
    {"I", "me", "my", "我", Agreement::first},
    {"you", "you", "your", "你", Agreement::plural},
    {"he", "him", "his", "他", Agreement::third},
    {"she", "her", "her", "她", Agreement::third},
    {"we", "us", "our", "我们", Agreement::plural},
    {"they", "them", "their", "他们", Agreement::plural},
};

struct Name {
  std::string_view english, chinese;
};

constexpr Name kNames[] = {
    {"Tom", "汤姆"},     {"Mary", "玛丽"},      {"John", "约翰"},      {"Anna", "安娜"},
    {"Peter", "彼得"},   {"Lucy", "露西"},      {"David", "大卫"},     {"Emma", "艾玛"},
    {"Jack", "杰克"},    {"Alice", "爱丽丝"},   {"Paul", "保罗"},      {"Helen", "海伦"},
    {"Li Ming", "李明"}, {"Wang Fang", "王芳"}, {"Zhang Wei", "张伟"}, {"Chen Jing", "陈静"},
};

struct Relation {
  std::string_view english, chinese;
  bool kin;  // 我妈妈, but 我的老师
};

constexpr Relation kRelations[] = {
    {"mother", "妈妈", true},      {"father", "爸爸", true},     {"grandmother", "奶奶", true},
    {"grandfather", "爷爷", true}, {"son", "儿子", true},        {"daughter", "女儿", true},
    {"friend", "朋友", false},     {"teacher", "老师", false},   {"neighbour", "邻居", false},
    {"colleague", "同事", false},  {"classmate", "同学", false}, {"boss", "老板", false},
};

Person third(const Phrase& phrase, Agreement agreement = Agreement::third) {
  return {phrase.english, phrase.english, phrase.chinese, agreement};
}

Person pronoun(Speaker& speaker) {
  const Pronoun& who = speaker.pick(kPronouns);
  const int link = speaker.link();
  return {words(who.subject, link), words(who.object, link), words(who.chinese, link),
          who.agreement, true};
}

// Two or three syllables: one of some hundred thousand names.
std::string made_up_name(Speaker& speaker) {
  constexpr std::string_view kConsonants = "bdfgklmnprstvz", kVowels = "aeiou";
  std::string text;
  for (int syllables = speaker.between(2, 3); syllables > 0; --syllables) {
    text += speaker.pick(kConsonants);
    text += speaker.pick(kVowels);
    if (speaker.chance(25)) text += speaker.pick(std::string_view("nrlk"));
  }
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

Phrase name(Speaker& speaker) {
  if (speaker.makes_up_name()) {
    const std::string made_up = made_up_name(speaker);
    return speaker.same(made_up, made_up);
  }
  const Name& who = speaker.pick(kNames);
  return speaker.same(who.english, who.chinese);
}

Phrase name_of_owner(Speaker& speaker) {
  Phrase who = name(speaker);
  who.english.back().text += "'s";
  return {who.english, join(who.chinese, weak("的", who.english.back().links[0]))};
}

Phrase relation(Speaker& speaker) {
  const Relation& kind = speaker.pick(kRelations);
  const Phrase who = speaker.same(kind.english, kind.chinese);
  if (speaker.chance(30)) {
    const Phrase whose = name_of_owner(speaker);
    return {join(whose.english, who.english), join(whose.chinese, who.chinese)};
  }
  const Pronoun& pronoun = speaker.pick(kPronouns);
  const int link = speaker.link();
  const Words of = kind.kin ? Words{} : weak("的", link);
  return {join(words(pronoun.owner, link), who.english),
          join(words(pronoun.chinese, link), of, who.chinese)};
}

}  // namespace

Person anybody(Speaker& speaker) {
  const int kind = speaker.below(100);
  if (kind < 30) return pronoun(speaker);
  if (kind < 80) return somebody(speaker);
  const Noun& profession = speaker.pick(kProfessions);
  if (kind < 90) {
    const int link = speaker.link();
    return third({join(weak("the", link), words(profession.singular, link)),
                  words(profession.chinese, link)});
  }
  const Thing some = kind < 95 ? counted(speaker, profession) : pointed(speaker, profession);
  return third(some.phrase, some.plural ? Agreement::plural : Agreement::third);
}

Person somebody(Speaker& speaker) {
  return speaker.chance(55) ? named(speaker) : third(relation(speaker));
}

Person named(Speaker& speaker) { return third(name(speaker)); }

Person another(Speaker& speaker, const Person& one) {
  if (!one.pronoun && speaker.chance(30)) return pronoun(speaker);
  while (true) {
    Person other = somebody(speaker);
    if (!same_text(other.chinese, one.chinese)) return other;
  }
}

Phrase owner(Speaker& speaker) {
  if (speaker.chance(40)) return name_of_owner(speaker);
  const Pronoun& who = speaker.pick(kPronouns);
  const int link = speaker.link();
  return {words(who.owner, link), join(words(who.chinese, link), weak("的", link))};
}

std::string_view be(Agreement agreement) {
  if (agreement == Agreement::first) return "am";
  return agreement == Agreement::third ? "is" : "are";
}

std::string_view does(Agreement agreement) { return agreement == Agreement::third ? "does" : "do"; }

}  // namespace heed::grammar
