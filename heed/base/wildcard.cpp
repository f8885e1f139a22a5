#include "heed/base/wildcard.h"

namespace heed {

bool matches_wildcard(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0;
  std::size_t star = pattern.npos, after_star = 0;  // the last `*`, and where its text ends
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {  // the text of the last `*` is one longer
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace heed
