// Numbers in words. Two of a thing are 两 in Chinese, not the 二 of twelve and twenty.
#pragma once

#include <string>

namespace heed::grammar {

/// "twenty-two", for 1 to 999.
std::string english_number(int n);
/// A number before a measure word: 两, 十二, 二十二, 两百; for 1 to 999.
std::string chinese_count(int n);

}  // namespace heed::grammar
