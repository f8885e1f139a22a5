#include "heed/generation/options.h"

#include <algorithm>
#include <cmath>

#include "heed/io/config.h"

namespace heed {

void SearchOptions::fields(io::Fields& field) {
  field("method", method, "take the most probable tokens, or sample");
  field("beam_size", beam_size, "number of hypotheses; 1: greedy search", kBeamLimits);
  field("n_best", n_best, "number of results per sentence", kBeamLimits);
  field("stopping", stopping,
        "stop when no better result is possible, when beam_size are finished, or when they are and "
        "none seems possible");
  field("length_penalty", length_penalty, "alpha, the weight of the length in scores",
        {.min = 0, .max = 10});
  field("length_penalty_form", length_penalty_form,
        "log p / L^alpha, or log p / ((5 + L) / 6)^alpha");
  field("min_length", min_length, "minimum number of tokens of a result", {.min = 0});
  field("max_length", max_length, "maximum number of tokens of a result", {.min = 0});
  field("max_length_ratio", max_length_ratio, "at most ratio * source tokens + extra", {.min = 0});
  field("max_length_extra", max_length_extra, "at most ratio * source tokens + extra", {.min = 0});
  choice_fields(field);
}

void SearchOptions::choice_fields(io::Fields& field) {
  field("no_repeat_ngram", no_repeat_ngram, "n-grams of this length may not repeat; 0: no limit",
        {.min = 0});
  field("allow_unknown", allow_unknown, "whether the unknown token may be chosen");
  field("repetition_penalty", repetition_penalty,
        "scores above 0 of tokens that were there are divided by this, others multiplied",
        kRepetitionLimits);
  field("presence_penalty", presence_penalty, "subtracted from scores of tokens of the text",
        kCountLimits);
  field("frequency_penalty", frequency_penalty,
        "subtracted from scores of tokens of the text, as often as they occur", kCountLimits);
  field("temperature", temperature, "sample: softmax(scores / temperature)", kTemperatureLimits);
  field("top_k", top_k, "sample: only from the k most probable tokens; 0: all", {.min = 0});
  field("top_p", top_p,
        "sample: only from the most probable tokens that together reach this probability",
        {.min = 0, .max = 1});
  field("min_p", min_p,
        "sample: only from tokens with at least this share of the greatest probability",
        {.min = 0, .max = 1});
  field("seed", seed, "sample: seed of the random numbers");
  field("cache", cache, "form of the keys and values of earlier positions");
}

void SearchOptions::validate() const {
  io::check_limits(*this, "search");
  HEED_CHECK(method == SearchMethod::sample || n_best <= beam_size,
             "[search] n_best {} is more than beam_size {}: a beam finds at most its size", n_best,
             beam_size);
  HEED_CHECK(min_length <= max_length,
             "[search] min_length {} and max_length {}: it must be 0 <= min <= max", min_length,
             max_length);
  HEED_CHECK(top_p > 0.0, "[search] top_p is {}: it must be above 0 and at most 1", top_p);
}

bool is_single(const SearchOptions& options) {
  return options.method == SearchMethod::sample ? options.n_best == 1 : options.beam_size == 1;
}

double length_divisor(const SearchOptions& options, std::int64_t length) {
  const auto n = static_cast<double>(length);
  const double base = options.length_penalty_form == LengthPenalty::power ? n : (5.0 + n) / 6.0;
  return std::pow(base, options.length_penalty);
}

std::int64_t longest_result(const SearchOptions& options,
                            std::optional<std::int64_t> source_length) {
  if (!source_length) return options.max_length;
  const double of_source =
      options.max_length_ratio * static_cast<double>(*source_length) + options.max_length_extra;
  if (of_source >= static_cast<double>(options.max_length)) return options.max_length;
  return static_cast<std::int64_t>(of_source);
}

}  // namespace heed
