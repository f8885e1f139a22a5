// Times: yesterday, at half past seven tomorrow morning, on March 5, 2021, three days ago, every
// Monday. Chinese goes from the largest unit to the smallest: 2021年3月5日, 明天早上七点半.
#pragma once

#include "heed/data/grammar/phrase.h"

namespace heed::grammar {

/// A time in the past.
Phrase past_time(Speaker& speaker);
/// A time in the future.
Phrase future_time(Speaker& speaker);
/// A time that repeats.
Phrase repeated_time(Speaker& speaker);
/// "seven o'clock", "half past seven in the evening": 晚上七点半.
Phrase time_of_day(Speaker& speaker);
/// A calendar date, without "on".
struct Date {
  Phrase phrase;
  int year = 0, month = 0, day = 0;
};
/// A date between two years.
Date date(Speaker& speaker, int first_year, int last_year);
/// "March 5": 3月5日.
Phrase day_of_year(Speaker& speaker);
/// "on" before a day or a date.
Phrase on(const Phrase& day);
/// "Monday" and so on, for 0 (Sunday) to 6.
Phrase weekday(Speaker& speaker, int day);

}  // namespace heed::grammar
