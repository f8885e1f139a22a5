// The options of a search: its width, the length of results, how they are compared, and how tokens
// are sampled.
//
// Hypotheses of different lengths are compared by a score, their log-probability divided by a
// penalty that grows with the length L (L counts the end token, so it is at least 1):
//   power:  score = log p / L^alpha                 fairseq's --lenpen, Marian's --normalize
//   gnmt:   score = log p / ((5 + L) / 6)^alpha     Wu et al. 2016, equation 14
// Alpha 0 compares plain log-probabilities, which favours short results.
//
// The log-probability of a running hypothesis only decreases, but with alpha > 0 a longer one is
// divided by more. So with log p so far and the maximum length M of its sentence, end token
// included, it cannot reach a score above
//   log p / penalty(M)
// and once n_best results are at least that good it cannot change them. `exact` stops by this
// bound; its results are those of running every sentence to its maximum length.
#pragma once

#include <array>
#include <cstdint>

#include "heed/io/fields.h"
#include "heed/kernels/attention/page.h"

namespace heed {

using kernels::CacheForm;

enum class SearchMethod : std::uint8_t {
  beam,    // the most probable; greedy with a beam of 1
  sample,  // sampled at random
};
enum class LengthPenalty : std::uint8_t { power, gnmt };
enum class Stopping : std::uint8_t {
  exact,     // when no running hypothesis can change the n best
  first,     // when beam_size are finished, as fairseq does: faster, but perhaps not the best
  estimate,  // when beam_size are finished and the best running one, at its present length, is
             // no better than the worst of them, as transformers does
};

/// The names that configs use.
constexpr std::array<io::EnumName<SearchMethod>, 2> enum_names(SearchMethod) {
  return {{{SearchMethod::beam, "beam"}, {SearchMethod::sample, "sample"}}};
}
constexpr std::array<io::EnumName<LengthPenalty>, 2> enum_names(LengthPenalty) {
  return {{{LengthPenalty::power, "power"}, {LengthPenalty::gnmt, "gnmt"}}};
}
constexpr std::array<io::EnumName<Stopping>, 3> enum_names(Stopping) {
  return {
      {{Stopping::exact, "exact"}, {Stopping::first, "first"}, {Stopping::estimate, "estimate"}}};
}

/// Limits of the options. A search keeps all its hypotheses in memory at once. The scores of a
/// sample are divided by the temperature in f32.
inline constexpr io::Limits kBeamLimits{.min = 1, .max = 1000};
inline constexpr io::Limits kTemperatureLimits{.min = 1e-30, .max = 1e30};
inline constexpr io::Limits kRepetitionLimits{.min = 0.01, .max = 100};
inline constexpr io::Limits kCountLimits{.min = -100, .max = 100};

/// Lengths are in tokens, without the end token.
struct SearchOptions {
  SearchMethod method = SearchMethod::beam;
  std::int64_t beam_size = 5;
  std::int64_t n_best = 1;
  Stopping stopping = Stopping::exact;

  double length_penalty = 1.0;  // alpha
  LengthPenalty length_penalty_form = LengthPenalty::power;
  std::int64_t min_length = 0;
  std::int64_t max_length = 512;
  double max_length_ratio = 2.0;  // a sentence of S tokens has at most ratio * S + extra
  double max_length_extra = 20.0;

  std::int64_t no_repeat_ngram = 0;  // 0: n-grams may repeat
  bool allow_unknown = false;
  double repetition_penalty = 1.0;  // penalties.h; 1: none
  double presence_penalty = 0.0;    // 0: none
  double frequency_penalty = 0.0;   // 0: none

  double temperature = 1.0;
  std::int64_t top_k = 0;  // 0: all
  double top_p = 1.0;
  double min_p = 0.0;  // 0: all
  std::uint64_t seed = 1;

  CacheForm cache = CacheForm::f32;  // of the keys and values of earlier positions

  void fields(io::Fields& field);
  /// The members of sampling, penalties and the cache, which other options have too.
  void choice_fields(io::Fields& field);
  /// Throws heed::Error if members are out of range or do not fit together.
  void validate() const;
};

/// Whether a search follows a single sequence, whose tokens are never revised.
bool is_single(const SearchOptions& options);

/// The divisor of the log-probability of a hypothesis of that length, end token included.
double length_divisor(const SearchOptions& options, std::int64_t length);

/// The maximum number of tokens of a result: the smaller of max_length and, if there is a source of
/// S tokens, ratio * S + extra.
std::int64_t longest_result(const SearchOptions& options,
                            std::optional<std::int64_t> source_length);

}  // namespace heed
