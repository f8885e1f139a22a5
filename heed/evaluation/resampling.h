// Confidence intervals and significance tests. Bootstrap resampling (Koehn 2004) scores corpora
// that are drawn from the sentences with replacement; approximate randomisation (Riezler and
// Maxwell 2005) swaps the sentences of two systems at random. Random numbers and arithmetic are the
// same as in sacreBLEU, so means, intervals and p-values are equal too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/evaluation/metric.h"

namespace heed::evaluation {

/// The number of random trials and their seed.
struct Trials {
  std::int64_t count = 1000;
  std::uint64_t seed = 12345;
};

/// The mean of resampled scores, and half the width of their 95 % interval.
struct Confidence {
  double mean = 0;
  double half_width = 0;
};

/// The score of one of several systems; the first system is the baseline.
struct PairedResult {
  double score = 0;
  std::optional<double> p_value = {};         ///< Against the baseline, which has none.
  std::optional<Confidence> confidence = {};  ///< Set by bootstrap resampling.
};

/// Resamples one corpus, given the statistics of each sentence.
Confidence bootstrap(const Metric& metric, std::span<const Statistics> sentences, Trials trials);

/// Compares systems with the first one by bootstrap resampling; each has statistics for every
/// sentence.
std::vector<PairedResult> paired_bootstrap(const Metric& metric,
                                           std::span<const std::vector<Statistics>> systems,
                                           Trials trials);

/// Compares systems with the first one by approximate randomisation; 10000 trials are usual.
std::vector<PairedResult> paired_randomisation(const Metric& metric,
                                               std::span<const std::vector<Statistics>> systems,
                                               Trials trials);

}  // namespace heed::evaluation
