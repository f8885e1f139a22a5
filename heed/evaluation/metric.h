// The interface of metrics: each sentence contributes a few numbers, and the score of a corpus is a
// function of their sums. So a resampled corpus is scored from other sums, without reading it
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

/// The numbers of one sentence, or their sums over many.
using Statistics = std::vector<double>;

/// The lines of one file, in UTF-8.
using Lines = std::vector<std::string>;

/// The score of a corpus or sentence.
struct Score {
  std::string name;     ///< "BLEU", "chrF2++", "TER"
  double value = 0;     ///< In percent.
  std::string details;  ///< What sacreBLEU prints after BLEU; otherwise empty.
};

/// The score of a resampled corpus. sacreBLEU computes it from float32 sums with NumPy. `single` is
/// true if the result is a float32 too.
struct Sample {
  double value = 0;
  bool single = false;
};

/// A metric of translation quality.
class Metric {
 public:
  virtual ~Metric() = default;

  virtual std::string name() const = 0;
  /// The statistics of one sentence, given its reference translations (one or more).
  virtual Statistics statistics(std::string_view hypothesis,
                                std::span<const std::string> references) const = 0;
  virtual Score score(std::span<const double> sums) const = 0;
  /// The score, computed as in resampling.
  virtual Sample sample(std::span<const float> sums) const = 0;
  /// The parts of the signature that describe the options of this metric.
  virtual std::vector<SignatureItem> signature() const = 0;
};

/// The statistics of each sentence. There must be at least one list of references; each has one
/// line per hypothesis.
std::vector<Statistics> corpus_statistics(const Metric& metric,
                                          std::span<const std::string> hypotheses,
                                          std::span<const Lines> references);

/// The score of all sentences together, given the statistics of each.
Score total_score(const Metric& metric, std::span<const Statistics> sentences);

/// The score of a corpus.
Score corpus_score(const Metric& metric, std::span<const std::string> hypotheses,
                   std::span<const Lines> references);

/// The score of one sentence; for BLEU set effective_order.
Score sentence_score(const Metric& metric, std::string_view hypothesis,
                     std::span<const std::string> references);

}  // namespace heed::evaluation
