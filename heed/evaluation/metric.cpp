#include "heed/evaluation/metric.h"

#include "heed/base/error.h"

namespace heed::evaluation {

std::vector<Statistics> corpus_statistics(const Metric& metric,
                                          std::span<const std::string> hypotheses,
                                          std::span<const Lines> references) {
  HEED_CHECK(!references.empty(), "[score] there are no references: give one or more");
  HEED_CHECK(!hypotheses.empty(),
             "[score] there is nothing to score: the translation has no lines");
  for (const Lines& lines : references) {
    HEED_CHECK(lines.size() == hypotheses.size(),
               "[score] the translation has {} lines, the reference has {}: they must be parallel",
               hypotheses.size(), lines.size());
  }
  std::vector<Statistics> sentences;
  sentences.reserve(hypotheses.size());
  Lines of_sentence(references.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    for (std::size_t r = 0; r < references.size(); ++r) of_sentence[r] = references[r][i];
    sentences.push_back(metric.statistics(hypotheses[i], of_sentence));
  }
  return sentences;
}

Score total_score(const Metric& metric, std::span<const Statistics> sentences) {
  HEED_ASSERT(!sentences.empty());
  Statistics sums(sentences[0].size(), 0.0);
  for (const Statistics& sentence : sentences) {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += sentence[k];
  }
  return metric.score(sums);
}

Score corpus_score(const Metric& metric, std::span<const std::string> hypotheses,
                   std::span<const Lines> references) {
  return total_score(metric, corpus_statistics(metric, hypotheses, references));
}

Score sentence_score(const Metric& metric, std::string_view hypothesis,
                     std::span<const std::string> references) {
  HEED_CHECK(!references.empty(), "[score] there are no references: give one or more");
  return metric.score(metric.statistics(hypothesis, references));
}

}  // namespace heed::evaluation
