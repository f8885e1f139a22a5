// When: yesterday, at half past seven tomorrow morning, on March 5, 2021, three days ago, every
// Monday. Chinese goes from the large to the small: 2021年3月5日, 明天早上七点半.
#pragma once

#include "heed/data/grammar/phrase.h"

namespace heed::grammar {

/// A time that is over.
Phrase past_time(Speaker& speaker);
/// A time to come.
Phrase future_time(Speaker& speaker);
/// A time that comes again and again.
Phrase repeated_time(Speaker& speaker);
/// "seven o'clock", "half past seven in the evening": 晚上七点半.
Phrase time_of_day(Speaker& speaker);
/// A day of the calendar between two years, without "on".
struct Date {
  Phrase phrase;
  int year = 0, month = 0, day = 0;
};
Date date(Speaker& speaker, int first_year, int last_year);
/// "March 5": 3月5日.
Phrase day_of_year(Speaker& speaker);
/// "on" before a day or a date.
Phrase on(const Phrase& day);
/// "Monday", for 0 to 6 from Sunday on.
Phrase weekday(Speaker& speaker, int day);

}  // namespace heed::grammar
