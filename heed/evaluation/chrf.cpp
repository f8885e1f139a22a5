#include "heed/evaluation/chrf.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/evaluation/ngrams.h"
#include "heed/text/unicode.h"

namespace heed::evaluation {
namespace {

// A line as characters and as word numbers.
struct Line {
  std::u32string characters;
  std::u32string words;
};

// Splits one punctuation mark off a word: at the end if there is one, else at the start.
void split_mark(std::u32string_view word, std::vector<std::u32string_view>& words) {
  const auto is_mark = [](char32_t c) {
    return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') ||
           (c >= U'{' && c <= U'~');
  };
  std::size_t cut = 0;
  if (word.size() > 1 && is_mark(word.back())) {
    cut = word.size() - 1;
  } else if (word.size() > 1 && is_mark(word.front())) {
    cut = 1;
  }
  if (cut > 0) words.push_back(word.substr(0, cut));
  words.push_back(word.substr(cut));
}

Line prepare(std::string_view line, const ChrfOptions& options, WordNumbers& numbers) {
  std::u32string text =
      unicode::decode(options.lowercase ? unicode::lower(line) : std::string(line));
  Line result;
  std::vector<std::u32string_view> words;
  for (const std::u32string_view word : split_words(text)) {
    if (!options.whitespace) result.characters += word;
    if (options.word_order > 0) split_mark(word, words);
  }
  result.words = numbers(words);
  if (options.whitespace) result.characters = std::move(text);
  return result;
}

// The n-grams of each order, those of characters first.
std::vector<NgramCounts> count_orders(const Line& line, const ChrfOptions& options) {
  std::vector<NgramCounts> counts;
  for (int n = 1; n <= options.char_order; ++n) {
    counts.push_back(count_ngrams(line.characters, static_cast<std::size_t>(n)));
  }
  for (int n = 1; n <= options.word_order; ++n) {
    counts.push_back(count_ngrams(line.words, static_cast<std::size_t>(n)));
  }
  return counts;
}

Statistics compare(const std::vector<NgramCounts>& hypothesis,
                   const std::vector<NgramCounts>& reference) {
  Statistics result;
  for (std::size_t order = 0; order < hypothesis.size(); ++order) {
    // Orders that the reference is too short for do not count on either side.
    const std::int64_t ours = reference[order].empty() ? 0 : total(hypothesis[order]);
    const std::int64_t both = matches(hypothesis[order], reference[order]);
    result.push_back(static_cast<double>(ours));
    result.push_back(static_cast<double>(total(reference[order])));
    result.push_back(static_cast<double>(both));
  }
  return result;
}

// The score from sums; T is the type of all arithmetic. `single` is false if NumPy's result is a
// Python float instead of a T.
template <typename T>
Sample f_score(std::span<const T> sums, const ChrfOptions& options) {
  constexpr T kEps = static_cast<T>(1e-16);
  const T factor = static_cast<T>(options.beta * options.beta);
  T mean = 0, precisions = 0, recalls = 0;
  int used = 0;
  bool single = false;
  const std::size_t orders = sums.size() / 3;
  for (std::size_t i = 0; i < orders; ++i) {
    const T ours = sums[3 * i], theirs = sums[3 * i + 1], both = sums[3 * i + 2];
    const T precision = ours > 0 ? both / ours : kEps;
    const T recall = theirs > 0 ? both / theirs : kEps;
    const T denominator = factor * precision + recall;
    mean += denominator > 0 ? (1 + factor) * precision * recall / denominator : kEps;
    single = single || ours > 0 || theirs > 0;
    if (ours > 0 && theirs > 0) {
      precisions += precision;
      recalls += recall;
      ++used;
    }
  }
  if (options.eps_smoothing) return {T{100} * mean / static_cast<T>(orders), single};
  if (precisions + recalls == 0) return {0.0, false};
  precisions /= static_cast<T>(used);
  recalls /= static_cast<T>(used);
  T score = (1 + factor) * precisions * recalls;
  score /= factor * precisions + recalls;
  return {T{100} * score, true};
}

}  // namespace

Chrf::Chrf(const ChrfOptions& options) : options_(options) {
  HEED_CHECK(options.char_order >= 0 && options.word_order >= 0 &&
                 options.char_order + options.word_order >= 1,
             "[chrf] orders {} of characters and {} of words: one must be 1 or more",
             options.char_order, options.word_order);
  HEED_CHECK(options.beta >= 1 && options.beta <= 1000, "[chrf] beta is {}: must be from 1 to 1000",
             options.beta);
}

std::string Chrf::name() const {
  return fmt::format("chrF{}{}", options_.beta,
                     std::string(static_cast<std::size_t>(options_.word_order), '+'));
}

Statistics Chrf::statistics(std::string_view hypothesis,
                            std::span<const std::string> references) const {
  WordNumbers numbers;
  const Line ours = prepare(hypothesis, options_, numbers);
  const std::vector<NgramCounts> our_counts = count_orders(ours, options_);
  Statistics best;
  double best_score = -1;
  for (const std::string& reference : references) {
    const Line theirs = prepare(reference, options_, numbers);
    Statistics found = compare(our_counts, count_orders(theirs, options_));
    const double score = f_score(std::span<const double>(found), options_).value;
    if (score > best_score) {
      best_score = score;
      best = std::move(found);
    }
  }
  return best;
}

Score Chrf::score(std::span<const double> sums) const {
  return {name(), f_score(sums, options_).value, ""};
}

Sample Chrf::sample(std::span<const float> sums) const { return f_score(sums, options_); }

std::vector<SignatureItem> Chrf::signature() const {
  return {{"case", "c", options_.lowercase ? "lc" : "mixed"},
          {"eff", "e", options_.eps_smoothing ? "no" : "yes"},
          {"nc", "nc", fmt::to_string(options_.char_order)},
          {"nw", "nw", fmt::to_string(options_.word_order)},
          {"space", "s", options_.whitespace ? "yes" : "no"}};
}

}  // namespace heed::evaluation
