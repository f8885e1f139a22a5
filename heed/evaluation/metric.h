// What the metrics have in common: a sentence adds a few numbers to sums, and the score of a corpus
// is a function of the sums. So a resampled corpus is scored by other sums, without reading it
// again.
//
//   const Bleu bleu({.lowercase = true});
//   const Score score = corpus_score(bleu, hypotheses, {{references}});
//   score.value;  // 27.4
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/evaluation/signature.h"

namespace heed::evaluation {

/// What one sentence, or the sum of many, says to a metric.
using Statistics = std::vector<double>;

/// The lines of one file, in UTF-8.
using Lines = std::vector<std::string>;

struct Score {
  std::string name;     ///< "BLEU", "chrF2++", "TER"
  double value = 0;     ///< In percent.
  std::string details;  ///< What sacreBLEU prints behind BLEU; else empty.
};

/// A score of a resampled corpus. sacreBLEU computes it from float32 sums with NumPy, where some
/// formulas stay in float32 to the end: `single` says so.
struct Sample {
  double value = 0;
  bool single = false;
};

class Metric {
 public:
  virtual ~Metric() = default;

  virtual std::string name() const = 0;
  /// What one sentence adds, given its translations by people (one or more).
  virtual Statistics statistics(std::string_view hypothesis,
                                std::span<const std::string> references) const = 0;
  virtual Score score(std::span<const double> sums) const = 0;
  /// The score in the arithmetic of resampling.
  virtual Sample sample(std::span<const float> sums) const = 0;
  /// The signature's parts that tell this metric's options.
  virtual std::vector<SignatureItem> signature() const = 0;
};

/// What each sentence adds. Each list of references, there must be one, has a line per hypothesis.
std::vector<Statistics> corpus_statistics(const Metric& metric,
                                          std::span<const std::string> hypotheses,
                                          std::span<const Lines> references);

/// The score of all sentences together, given what each adds.
Score total_score(const Metric& metric, std::span<const Statistics> sentences);

/// The score of a corpus.
Score corpus_score(const Metric& metric, std::span<const std::string> hypotheses,
                   std::span<const Lines> references);

/// The score of one sentence; for BLEU set effective_order.
Score sentence_score(const Metric& metric, std::string_view hypothesis,
                     std::span<const std::string> references);

}  // namespace heed::evaluation
