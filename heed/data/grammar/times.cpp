#include "heed/data/grammar/times.h"

#include <fmt/format.h>

#include <chrono>

#include "heed/data/grammar/numbers.h"

namespace heed::grammar {
namespace {

struct TimeWord {
  std::string_view english, chinese;
};

constexpr TimeWord kWeekdays[] = {
    {"Sunday", "星期日"},   {"Monday", "星期一"}, {"Tuesday", "星期二"}, {"Wednesday", "星期三"},
    {"Thursday", "星期四"}, {"Friday", "星期五"}, {"Saturday", "星期六"}};
constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};

struct Daypart {
  std::string_view english, chinese;
  int first, last;  // hours
};
constexpr Daypart kDayparts[] = {
    {"morning", "早上", 6, 11}, {"afternoon", "下午", 1, 5}, {"evening", "晚上", 6, 10}};

constexpr TimeWord kPast[] = {{"yesterday", "昨天"},
                              {"the day before yesterday", "前天"},
                              {"last week", "上个星期"},
                              {"last month", "上个月"},
                              {"last year", "去年"}};
constexpr TimeWord kFuture[] = {{"tomorrow", "明天"},
                                {"the day after tomorrow", "后天"},
                                {"next week", "下个星期"},
                                {"next month", "下个月"},
                                {"next year", "明年"}};
constexpr TimeWord kRepeated[] = {
    {"day", "天"}, {"week", "个星期"}, {"month", "个月"}, {"year", "年"}};

// A unit of time before "ago", and its measure word.
struct Unit {
  std::string_view english, measure, chinese;
  int most;
};
constexpr Unit kUnits[] = {{"days", "", "天", 9},
                           {"weeks", "个", "星期", 5},
                           {"months", "个", "月", 11},
                           {"years", "", "年", 30}};

int days_in(int year, int month) {
  const std::chrono::year_month_day_last last{
      std::chrono::year{year},
      std::chrono::month_day_last{std::chrono::month{static_cast<unsigned>(month)}}};
  return static_cast<int>(static_cast<unsigned>(last.day()));
}

// "half past seven": 七点半
Phrase clock(Speaker& speaker, const Daypart& part) {
  const int hour = speaker.between(part.first, part.last);
  const int number = speaker.link();
  const Words english = words(english_number(hour), number);
  const Words chinese = words(chinese_count(hour), number);
  const int kind = speaker.below(10);
  if (kind < 5) {
    const Phrase oclock = speaker.same("o'clock", "点");
    return {join(english, oclock.english), join(chinese, oclock.chinese)};
  }
  const Phrase minutes =
      kind < 8 ? speaker.same("half past", "半") : speaker.same("a quarter past", "一刻");
  return {join(minutes.english, english), join(chinese, weak("点", number), minutes.chinese)};
}

// Adds a part of the day or a time: "yesterday morning", "at seven o'clock yesterday morning".
Phrase part_of(Speaker& speaker, const Phrase& day) {
  const Daypart& part = speaker.pick(kDayparts);
  const Phrase word = speaker.same(part.english, part.chinese);
  const Phrase whole = {join(day.english, word.english), join(day.chinese, word.chinese)};
  if (speaker.chance(40)) return whole;
  const Phrase at = clock(speaker, part);
  return {join(weak("at", at.chinese[0].links[0]), at.english, whole.english),
          join(whole.chinese, at.chinese)};
}

Phrase near_weekday(Speaker& speaker, std::string_view english, std::string_view chinese) {
  const Phrase near = speaker.same(english, chinese);
  const Phrase day = weekday(speaker, speaker.below(7));
  return {join(near.english, day.english), join(near.chinese, day.chinese)};
}

Phrase in_year(Speaker& speaker, int first_year, int last_year) {
  const int year = speaker.link();
  const int number = speaker.between(first_year, last_year);
  const Words english = words(fmt::format("{}", number), year);
  const Words chinese = words(fmt::format("{}年", number), year);
  if (speaker.chance(40)) return {join(weak("in", year), english), chinese};
  const int month = speaker.between(1, 12);
  const Phrase name = speaker.same(kMonths[month - 1], fmt::format("{}月", month));
  return {join(weak("in", name.english[0].links[0]), name.english, english),
          join(chinese, name.chinese)};
}

// "three days ago": 三天前
Phrase counted_time(Speaker& speaker) {
  const Unit& unit = speaker.pick(kUnits);
  const int count = speaker.between(2, unit.most);
  const Phrase number = speaker.same(english_number(count), chinese_count(count));
  const Phrase name = speaker.same(unit.english, unit.chinese);
  const Words measure =
      unit.measure.empty() ? Words{} : weak(unit.measure, name.english[0].links[0]);
  const Phrase ago = speaker.same("ago", "前");
  return {join(number.english, name.english, ago.english),
          join(number.chinese, measure, name.chinese, ago.chinese)};
}

}  // namespace

Phrase on(const Phrase& day) {
  return {join(weak("on", day.english[0].links[0]), day.english), day.chinese};
}

Phrase weekday(Speaker& speaker, int day) {
  return speaker.same(kWeekdays[day].english, kWeekdays[day].chinese);
}

Date date(Speaker& speaker, int first_year, int last_year) {
  const int year = speaker.between(first_year, last_year), month = speaker.between(1, 12);
  const int day = speaker.between(1, days_in(year, month));
  const Phrase y = speaker.same(fmt::format("{}", year), fmt::format("{}年", year));
  const Phrase m = speaker.same(kMonths[month - 1], fmt::format("{}月", month));
  const Phrase d = speaker.same(fmt::format("{},", day), fmt::format("{}日", day));
  return {{join(m.english, d.english, y.english), join(y.chinese, m.chinese, d.chinese)},
          year,
          month,
          day};
}

Phrase day_of_year(Speaker& speaker) {
  const int month = speaker.between(1, 12), day = speaker.between(1, days_in(2024, month));
  const Phrase m = speaker.same(kMonths[month - 1], fmt::format("{}月", month));
  const Phrase d = speaker.same(fmt::format("{}", day), fmt::format("{}日", day));
  return {join(m.english, d.english), join(m.chinese, d.chinese)};
}

Phrase time_of_day(Speaker& speaker) {
  const Daypart& part = speaker.pick(kDayparts);
  const Phrase at = clock(speaker, part);
  const Phrase word = speaker.same(part.english, part.chinese);
  return {join(at.english, weak("in the", word.english[0].links[0]), word.english),
          join(word.chinese, at.chinese)};
}

Phrase past_time(Speaker& speaker) {
  const int kind = speaker.below(100);
  if (kind < 30) {
    const TimeWord& pair = speaker.pick(kPast);
    return speaker.same(pair.english, pair.chinese);
  }
  if (kind < 45) return part_of(speaker, speaker.same("yesterday", "昨天"));
  if (kind < 60) return near_weekday(speaker, "last", "上");
  if (kind < 70) return counted_time(speaker);
  if (kind < 80) return in_year(speaker, 1980, 2024);
  if (kind < 90) return on(weekday(speaker, speaker.below(7)));
  return on(date(speaker, 1980, 2024).phrase);
}

Phrase future_time(Speaker& speaker) {
  const int kind = speaker.below(100);
  if (kind < 40) {
    const TimeWord& pair = speaker.pick(kFuture);
    return speaker.same(pair.english, pair.chinese);
  }
  if (kind < 60) return part_of(speaker, speaker.same("tomorrow", "明天"));
  if (kind < 75) return near_weekday(speaker, "next", "下");
  if (kind < 90) return on(weekday(speaker, speaker.below(7)));
  return on(date(speaker, 2027, 2040).phrase);
}

Phrase repeated_time(Speaker& speaker) {
  const int kind = speaker.below(100);
  if (kind < 30) {
    const Phrase every = speaker.same("every", "每");
    const TimeWord& unit = speaker.pick(kRepeated);
    const Phrase name = speaker.same(unit.english, unit.chinese);
    return {join(every.english, name.english), join(every.chinese, name.chinese)};
  }
  if (kind < 55) return near_weekday(speaker, "every", "每个");
  if (kind < 80) return part_of(speaker, speaker.same("every", "每天"));
  const Phrase at = time_of_day(speaker);
  return {join(weak("at", at.chinese.back().links[0]), at.english), at.chinese};
}

}  // namespace heed::grammar
