// Sentences that state facts: comparisons, locations, possession, weather, dates, ages and prices.
#pragma once

#include "heed/data/grammar/actions.h"

namespace heed::grammar {

/// "This car is much bigger than that bicycle": 这辆汽车比那辆自行车大得多.
Clause comparison(Speaker& speaker);
/// "These books are very expensive", "Is Tom busy?"
Clause quality(Speaker& speaker);
/// "There are three cups on the table": 桌子上有三个杯子.
Clause existence(Speaker& speaker);
/// "Tom's key is not in the box": 汤姆的钥匙不在箱子里.
Clause location(Speaker& speaker);
/// "My mother has two cats": 我妈妈有两只猫.
Clause possession(Speaker& speaker);
/// "It did not rain in Beijing yesterday": 昨天北京没下雨.
Clause weather(Speaker& speaker);
/// "Tom was born in Paris on March 5, 1992", "May 1, 2020 was a Friday", "Mary is twelve years
/// old".
Clause numbers_and_dates(Speaker& speaker);

}  // namespace heed::grammar
