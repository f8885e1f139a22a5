// The restricted Damerau-Levenshtein distance, and the threshold for suggestions.
#include "heed/base/suggest.h"

#include <algorithm>
#include <string>
#include <vector>

namespace heed {
namespace {

std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// A third of the letters may be wrong: "lerning_rat" suggests "learning_rate", but "lr" does not
// suggest "eps". Short words may have one mistake, so that a typo in "lr" still finds it.
std::size_t allowed_mistakes(std::size_t length) { return std::max<std::size_t>(1, length / 3); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rolling rows of the usual table; a swap of neighbours needs the row before the last.
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string lower = lower_case(word);
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    const std::size_t length = std::max(word.size(), candidate.size());
    const std::size_t shortest = std::min(word.size(), candidate.size());
    // The distance is at least the difference in length; this check keeps very long words cheap.
    if (length - shortest > allowed_mistakes(length)) continue;
    const std::size_t distance = edit_distance(lower, lower_case(candidate));
    // With as many mistakes as letters, any short word would match any other.
    if (distance > allowed_mistakes(length) || distance >= length) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace heed
