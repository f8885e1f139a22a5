#include "heed/data/grammar/numbers.h"

#include "heed/base/error.h"

namespace heed::grammar {
namespace {

constexpr const char* kBelowTwenty[] = {"",        "one",     "two",       "three",    "four",
                                        "five",    "six",     "seven",     "eight",    "nine",
                                        "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                        "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr const char* kTens[] = {"",      "",      "twenty",  "thirty", "forty",
                                 "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr const char* kDigits[] = {"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"};

// 1 to 99, alone or after hundreds: 十二 alone, 一百一十二 after hundreds.
std::string below_hundred(int n, bool alone) {
  if (n < 10) return kDigits[n];
  const std::string tens = n < 20 && alone ? "" : kDigits[n / 10];
  return tens + "十" + (n % 10 == 0 ? "" : kDigits[n % 10]);
}

}  // namespace

std::string english_number(int n) {
  HEED_ASSERT(n >= 1 && n <= 999);
  if (n < 20) return kBelowTwenty[n];
  if (n < 100) return kTens[n / 10] + (n % 10 == 0 ? "" : std::string("-") + kBelowTwenty[n % 10]);
  const std::string rest = n % 100 == 0 ? "" : " and " + english_number(n % 100);
  return std::string(kBelowTwenty[n / 100]) + " hundred" + rest;
}

std::string chinese_count(int n) {
  HEED_ASSERT(n >= 1 && n <= 999);
  if (n == 2) return "两";
  if (n < 100) return below_hundred(n, true);
  const std::string hundreds = (n / 100 == 2 ? std::string("两") : kDigits[n / 100]) + "百";
  if (n % 100 == 0) return hundreds;
  return hundreds + (n % 100 < 10 ? "零" : "") + below_hundred(n % 100, false);
}

}  // namespace heed::grammar
