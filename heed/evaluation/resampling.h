// How sure a score, or a difference of scores, is. Bootstrap resampling (Koehn 2004) scores corpora
// drawn from the sentences with replacement; approximate randomisation (Riezler and Maxwell 2005)
// swaps the sentences of two systems at random. Draws and arithmetic are sacreBLEU's, so that
// means, intervals and p-values are the ones it prints.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/evaluation/metric.h"

namespace heed::evaluation {

struct Trials {
  std::int64_t count = 1000;
  std::uint64_t seed = 12345;
};

/// The mean of resampled scores, and half the width of the interval that 95 of 100 fall into.
struct Confidence {
  double mean = 0;
  double half_width = 0;
};

/// The score of one of several systems, the first of which is the baseline.
struct PairedResult {
  double score = 0;
  std::optional<double> p_value =
      {};  ///< That a difference as large is chance; none for the baseline.
  std::optional<Confidence> confidence = {};  ///< When resampled.
};

/// Resamples one corpus, given what each sentence adds.
Confidence bootstrap(const Metric& metric, std::span<const Statistics> sentences, Trials trials);

/// Compares systems with the first by bootstrap resampling; each has a row per sentence.
std::vector<PairedResult> paired_bootstrap(const Metric& metric,
                                           std::span<const std::vector<Statistics>> systems,
                                           Trials trials);

/// Compares systems with the first by approximate randomisation; 10000 trials are usual.
std::vector<PairedResult> paired_randomisation(const Metric& metric,
                                               std::span<const std::vector<Statistics>> systems,
                                               Trials trials);

}  // namespace heed::evaluation
