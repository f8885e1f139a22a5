// Times: from the large to the small in Chinese, real days of the calendar.
#include "heed/data/grammar/times.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "tests/data/grammar/say.h"

namespace heed::grammar::times_test {
namespace {

using testing::IsSupersetOf;

std::set<std::string> many(Phrase (*make)(Speaker&)) {
  std::set<std::string> all;
  for (int i = 0; i < 5000; ++i) {
    Speaker speaker(1, i);
    all.insert(both(make(speaker)));
  }
  return all;
}

TEST(Times, OfThePast) {
  EXPECT_THAT(many(past_time),
              IsSupersetOf({"yesterday = 昨天", "last Monday = 上星期一", "on Friday = 星期五",
                            "three days ago = 三天前", "two weeks ago = 两个星期前",
                            "in 2019 = 2019年", "yesterday morning = 昨天早上",
                            "at two o'clock yesterday afternoon = 昨天下午两点",
                            "at half past seven yesterday evening = 昨天晚上七点半"}));
}

TEST(Times, ToCome) {
  EXPECT_THAT(many(future_time),
              IsSupersetOf({"tomorrow = 明天", "next Sunday = 下星期日",
                            "at a quarter past six tomorrow morning = 明天早上六点一刻"}));
}

TEST(Times, AgainAndAgain) {
  EXPECT_THAT(
      many(repeated_time),
      IsSupersetOf({"every day = 每天", "every month = 每个月", "every Monday = 每个星期一",
                    "every evening = 每天晚上", "at eight o'clock in the morning = 早上八点"}));
}

TEST(Times, DatesAreReal) {
  std::set<int> months;
  for (int i = 0; i < 3000; ++i) {
    Speaker speaker(2, i);
    const Date day = date(speaker, 1999, 2001);
    const std::chrono::year_month_day real{std::chrono::year{day.year},
                                           std::chrono::month{static_cast<unsigned>(day.month)},
                                           std::chrono::day{static_cast<unsigned>(day.day)}};
    EXPECT_TRUE(real.ok()) << both(day.phrase);
    EXPECT_EQ(chinese(day.phrase.chinese),
              fmt::format("{}年{}月{}日", day.year, day.month, day.day));
    months.insert(day.month);
    if (day.month == 3) {
      EXPECT_EQ(english(day.phrase.english), fmt::format("March {}, {}", day.day, day.year));
    }
  }
  EXPECT_EQ(months.size(), 12u);
}

TEST(Times, DaysOfTheYearAndTheWeek) {
  EXPECT_THAT(many(day_of_year), IsSupersetOf({"May 1 = 5月1日", "February 29 = 2月29日"}));
  Speaker speaker(1, 1);
  EXPECT_EQ(both(on(weekday(speaker, 0))), "on Sunday = 星期日");
}

}  // namespace
}  // namespace heed::grammar::times_test
