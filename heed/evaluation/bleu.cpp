#include "heed/evaluation/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "heed/base/error.h"
#include "heed/evaluation/ngrams.h"
#include "heed/text/unicode.h"

namespace heed::evaluation {
namespace {

template <typename E>
std::string name_of(E value) {
  for (const auto& entry : enum_names(E{})) {
    if (entry.value == value) return std::string(entry.name);
  }
  return {};
}

bool takes_value(Smoothing smoothing) {
  return smoothing == Smoothing::floor || smoothing == Smoothing::add_k;
}

double smooth_value(const BleuOptions& options) {
  return options.smooth_value.value_or(options.smoothing == Smoothing::floor ? 0.1 : 1.0);
}

// The reference length nearest to the length of the translation; the shorter one if two are equally
// near.
std::int64_t nearest(std::int64_t length, const std::vector<std::int64_t>& references) {
  return *std::min_element(references.begin(), references.end(), [&](auto a, auto b) {
    const auto distance_a = std::abs(a - length), distance_b = std::abs(b - length);
    return distance_a != distance_b ? distance_a < distance_b : a < b;
  });
}

double brevity_penalty(double hypothesis, double reference) {
  if (hypothesis >= reference) return 1.0;
  return hypothesis > 0 ? std::exp(1 - reference / hypothesis) : 0.0;
}

struct Precisions {
  std::vector<double> percent;  // for each order
  int orders = 0;               // number of orders that count
};

// T is the type of the counts and of the arithmetic. NumPy computes in float32 if a Python number
// is combined with a float32, so each step here rounds to T.
template <typename T>
Precisions precisions(std::span<const T> sums, const BleuOptions& options) {
  const auto n = static_cast<std::size_t>(options.max_order);
  const T value = static_cast<T>(smooth_value(options));
  Precisions result{std::vector<double>(n, 0.0), options.max_order};
  T halves = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const T added = options.smoothing == Smoothing::add_k && i > 0 ? value : T{0};
    const T correct = sums[2 + i] + added;
    const T total = sums[2 + n + i] + added;
    if (total == 0) break;
    if (options.effective_order) result.orders = static_cast<int>(i) + 1;
    if (correct != 0) {
      result.percent[i] = T{100} * correct / total;
    } else if (options.smoothing == Smoothing::exponential) {
      halves *= 2;
      result.percent[i] = T{100} / (halves * total);
    } else if (options.smoothing == Smoothing::floor) {
      result.percent[i] = static_cast<T>(100.0 * smooth_value(options)) / total;
    }
  }
  return result;
}

template <typename T>
bool nothing_matches(std::span<const T> sums, int max_order) {
  const auto correct = sums.subspan(2, static_cast<std::size_t>(max_order));
  return std::all_of(correct.begin(), correct.end(), [](T count) { return count == 0; });
}

double combine(const Precisions& precisions, double penalty) {
  constexpr double kLogOfZero = -9999999999.0;
  double sum = 0;
  for (int i = 0; i < precisions.orders; ++i) {
    const double p = precisions.percent[static_cast<std::size_t>(i)];
    sum += p == 0.0 ? kLogOfZero : std::log(p);
  }
  return penalty * std::exp(sum / precisions.orders);
}

}  // namespace

Bleu::Bleu(const BleuOptions& options) : options_(options) {
  HEED_CHECK(options.max_order >= 1, "[bleu] the longest n-grams have order {}: must be 1 or more",
             options.max_order);
  HEED_CHECK(!options.smooth_value || takes_value(options.smoothing),
             "[bleu] smoothing '{}' takes no value: only floor and add-k do",
             name_of(options.smoothing));
}

std::u32string Bleu::prepare(std::string_view line) const {
  std::u32string text =
      unicode::decode(options_.lowercase ? unicode::lower(line) : std::string(line));
  while (!text.empty() && unicode::is_space(text.back())) text.pop_back();
  return tokenize(text, options_.tokenizer);
}

Statistics Bleu::statistics(std::string_view hypothesis,
                            std::span<const std::string> references) const {
  const auto orders = static_cast<std::size_t>(options_.max_order);
  std::vector<std::u32string> texts = {prepare(hypothesis)};
  for (const std::string& reference : references) texts.push_back(prepare(reference));
  WordNumbers numbers;
  std::vector<std::u32string> sentences;
  for (const std::u32string& text : texts) sentences.push_back(numbers(split_words(text)));

  std::vector<std::int64_t> lengths;
  for (std::size_t r = 1; r < sentences.size(); ++r) {
    lengths.push_back(static_cast<std::int64_t>(sentences[r].size()));
  }
  Statistics result(2 + 2 * orders);
  const auto length = static_cast<std::int64_t>(sentences[0].size());
  result[0] = static_cast<double>(length);
  result[1] = static_cast<double>(nearest(length, lengths));
  for (std::size_t n = 1; n <= orders; ++n) {
    const NgramCounts ours = count_ngrams(sentences[0], n);
    NgramCounts theirs;
    for (std::size_t r = 1; r < sentences.size(); ++r) {
      theirs = larger_counts(theirs, count_ngrams(sentences[r], n));
    }
    result[1 + n] = static_cast<double>(matches(ours, theirs));
    result[1 + orders + n] = static_cast<double>(total(ours));
  }
  return result;
}

Score Bleu::score(std::span<const double> sums) const {
  const double penalty = brevity_penalty(sums[0], sums[1]);
  Precisions parts{std::vector<double>(static_cast<std::size_t>(options_.max_order), 0.0), 0};
  double value = 0;
  if (!nothing_matches(sums, options_.max_order)) {
    parts = precisions(sums, options_);
    value = combine(parts, penalty);
  }
  std::string details;
  for (const double p : parts.percent)
    details += fmt::format("{}{:.1f}", details.empty() ? "" : "/", p);
  details += fmt::format(" (BP = {:.3f} ratio = {:.3f} hyp_len = {:.0f} ref_len = {:.0f})", penalty,
                         sums[1] > 0 ? sums[0] / sums[1] : 0.0, sums[0], sums[1]);
  return {name(), value, details};
}

Sample Bleu::sample(std::span<const float> sums) const {
  if (nothing_matches(sums, options_.max_order)) return {0.0, false};
  return {combine(precisions(sums, options_), brevity_penalty(sums[0], sums[1])), false};
}

std::vector<SignatureItem> Bleu::signature() const {
  std::string smooth = name_of(options_.smoothing);
  if (takes_value(options_.smoothing)) smooth += fmt::format("[{:.2f}]", smooth_value(options_));
  return {{"case", "c", options_.lowercase ? "lc" : "mixed"},
          {"eff", "e", options_.effective_order ? "yes" : "no"},
          {"tok", "tok", name_of(options_.tokenizer)},
          {"smooth", "s", smooth}};
}

}  // namespace heed::evaluation
