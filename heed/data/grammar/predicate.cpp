#include "heed/data/grammar/predicate.h"

#include "heed/base/error.h"

namespace heed::grammar {
namespace {

Predicate past(Speaker& speaker, const Verb& verb, Mood mood) {
  const int act = speaker.link(), helper = speaker.link();
  const Words main = words(verb.chinese, act), done = weak("了", act);
  switch (mood) {
    case Mood::statement:
      return {{}, words(verb.past, act), {}, main, done, {}};
    case Mood::negation:
      return {join(weak("did", helper), words("not", helper)),
              words(verb.base, act),
              words("没", helper),
              main,
              {},
              {}};
    case Mood::question:
      return {weak("did", helper), words(verb.base, act), {}, main, done, weak("吗", helper)};
  }
  HEED_ASSERT(false);
  return {};
}

Predicate future(Speaker& speaker, const Verb& verb, Mood mood) {
  const int act = speaker.link();
  const Phrase will = speaker.same("will", "会");
  Predicate all{
      will.english, words(verb.base, act), will.chinese, words(verb.chinese, act), {}, {}};
  if (mood == Mood::negation) {
    const Phrase no = speaker.same("not", "不");
    all.helper = join(will.english, no.english);
    all.before = join(no.chinese, will.chinese);
  }
  if (mood == Mood::question) all.ending = weak("吗", will.english[0].links[0]);
  return all;
}

Predicate habit(Speaker& speaker, const Verb& verb, Agreement agreement, Mood mood) {
  const int act = speaker.link(), helper = speaker.link();
  const Words main = words(verb.chinese, act);
  const Words base = words(verb.base, act);
  switch (mood) {
    case Mood::statement:
      return {{}, agreement == Agreement::third ? words(verb.third, act) : base, {}, main, {}, {}};
    case Mood::negation:
      return {join(weak(does(agreement), helper), words("not", helper)),
              base,
              words("不", helper),
              main,
              {},
              {}};
    case Mood::question:
      return {weak(does(agreement), helper), base, {}, main, {}, weak("吗", helper)};
  }
  HEED_ASSERT(false);
  return {};
}

Predicate modal(Speaker& speaker, const Verb& verb, Agreement agreement, Mood mood) {
  const Modal& modal = speaker.pick(kModals);
  const int act = speaker.link(), wish = speaker.link(), helper = speaker.link();
  const bool negated = mood == Mood::negation;
  const Words no = negated ? words("not", helper) : Words{};
  const Words finite = words(agreement == Agreement::third ? modal.third : modal.base, wish);
  const Words base = words(verb.base, act);
  Predicate all;
  all.before =
      negated ? join(words("不", helper), words(modal.negated, wish)) : words(modal.chinese, wish);
  all.main = words(verb.chinese, act);
  if (mood == Mood::question) all.ending = weak("吗", modal.with_do ? helper : wish);
  if (!modal.with_do) {
    all.helper = join(finite, no);
    all.verb = base;
    if (negated && modal.base == "can") {
      all.helper.clear();
      all.helper.push_back({"cannot", {wish, helper}});
    }
  } else if (mood == Mood::statement) {
    all.verb = join(finite, base);
  } else {
    all.helper = join(weak(does(agreement), helper), no);
    all.verb = join(words(modal.base, wish), base);
  }
  return all;
}

// 正 needs no 在 before 在公园里 and 和玛丽一起; the caller adds 在 if neither follows.
Predicate now(Speaker& speaker, const Verb& verb, Agreement agreement, Mood mood) {
  HEED_ASSERT(mood != Mood::negation && !verb.ing.empty());
  const int act = speaker.link();
  const Phrase is = speaker.same(be(agreement), "正");
  const Words ending = mood == Mood::question ? weak("吗", is.english[0].links[0]) : Words{};
  return {is.english, words(verb.ing, act), is.chinese, words(verb.chinese, act), {}, ending};
}

}  // namespace

Predicate predicate(Speaker& speaker, const Verb& verb, Agreement agreement, Tense tense,
                    Mood mood) {
  switch (tense) {
    case Tense::past:
      return past(speaker, verb, mood);
    case Tense::future:
      return future(speaker, verb, mood);
    case Tense::habit:
      return habit(speaker, verb, agreement, mood);
    case Tense::modal:
      return modal(speaker, verb, agreement, mood);
    case Tense::now:
      return now(speaker, verb, agreement, mood);
  }
  HEED_ASSERT(false);
  return {};
}

}  // namespace heed::grammar
