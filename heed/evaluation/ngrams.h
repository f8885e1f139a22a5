// N-grams of a sentence. A sentence is a sequence of symbols, each a char32_t: its characters, or
// the numbers that WordNumbers assigns to its words. An n-gram is a part of that sequence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heed::evaluation {

/// The words between white space, as Python's str.split() finds them.
std::vector<std::u32string_view> split_words(std::u32string_view text);

/// Assigns numbers to words; equal words get equal numbers.
class WordNumbers {
 public:
  /// The numbers of the words, in order.
  std::u32string operator()(const std::vector<std::u32string_view>& words);

 private:
  std::unordered_map<std::u32string, char32_t> numbers_;
};

/// N-grams and their counts, sorted by n-gram; the views refer to the counted sequence.
using NgramCounts = std::vector<std::pair<std::u32string_view, std::int64_t>>;

/// Counts the n-grams of one order n >= 1.
NgramCounts count_ngrams(std::u32string_view symbols, std::size_t n);

/// The sum of all counts.
std::int64_t total(const NgramCounts& counts);

/// The number of common n-grams: the sum of the smaller counts.
std::int64_t matches(const NgramCounts& a, const NgramCounts& b);

/// The n-grams of either side, each with the larger count.
NgramCounts larger_counts(const NgramCounts& a, const NgramCounts& b);

}  // namespace heed::evaluation
