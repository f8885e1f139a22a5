#include "heed/evaluation/ngrams.h"

#include <algorithm>

#include "heed/text/unicode.h"

namespace heed::evaluation {

std::vector<std::u32string_view> split_words(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (at < text.size() && !unicode::is_space(text[at])) ++at;
    if (at > begin) words.push_back(text.substr(begin, at - begin));
    ++at;
  }
  return words;
}

std::u32string WordNumbers::operator()(const std::vector<std::u32string_view>& words) {
  std::u32string symbols;
  symbols.reserve(words.size());
  for (const std::u32string_view word : words) {
    const auto next = static_cast<char32_t>(numbers_.size());
    symbols += numbers_.try_emplace(std::u32string(word), next).first->second;
  }
  return symbols;
}

NgramCounts count_ngrams(std::u32string_view symbols, std::size_t n) {
  NgramCounts counts;
  if (symbols.size() < n) return counts;
  std::vector<std::u32string_view> all;
  all.reserve(symbols.size() - n + 1);
  for (std::size_t i = 0; i + n <= symbols.size(); ++i) all.push_back(symbols.substr(i, n));
  std::sort(all.begin(), all.end());
  for (const std::u32string_view ngram : all) {
    if (counts.empty() || counts.back().first != ngram) counts.emplace_back(ngram, 0);
    ++counts.back().second;
  }
  return counts;
}

std::int64_t total(const NgramCounts& counts) {
  std::int64_t sum = 0;
  for (const auto& [ngram, count] : counts) sum += count;
  return sum;
}

std::int64_t matches(const NgramCounts& a, const NgramCounts& b) {
  std::int64_t sum = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    const int order = i->first.compare(j->first);
    if (order == 0) sum += std::min(i->second, j->second);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  return sum;
}

NgramCounts larger_counts(const NgramCounts& a, const NgramCounts& b) {
  NgramCounts merged;
  merged.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged));
  // Equal n-grams are now adjacent, the smaller count first.
  NgramCounts counts;
  for (const auto& entry : merged) {
    if (!counts.empty() && counts.back().first == entry.first) counts.pop_back();
    counts.push_back(entry);
  }
  return counts;
}

}  // namespace heed::evaluation
