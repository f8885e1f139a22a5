// chrF (Popović 2015): the F-score of character n-grams, where recall counts beta^2 times as much
// as precision. With word n-grams it is chrF+ (order 1) and chrF++ (order 2, Popović 2017). The
// scores are equal to those of sacreBLEU, digit for digit.
#pragma once

#include "heed/evaluation/metric.h"

namespace heed::evaluation {

/// Options of Chrf.
struct ChrfOptions {
  int char_order = 6;
  int word_order = 0;
  int beta = 2;
  bool lowercase = false;
  bool whitespace = false;  ///< Count white space as characters.
  /// Average the F-scores of all orders, with 1e-16 for orders without n-grams, instead of
  /// averaging precision and recall of the orders that have some.
  bool eps_smoothing = false;
};

/// The chrF metric.
class Chrf : public Metric {
 public:
  explicit Chrf(const ChrfOptions& options = {});

  /// chrF2 for beta 2, with a + for each word order.
  std::string name() const override;
  /// For each order: the numbers of n-grams of the translation, of the reference, and of matches,
  /// for the reference with the best score.
  Statistics statistics(std::string_view hypothesis,
                        std::span<const std::string> references) const override;
  Score score(std::span<const double> sums) const override;
  Sample sample(std::span<const float> sums) const override;
  std::vector<SignatureItem> signature() const override;

 private:
  ChrfOptions options_;
};

}  // namespace heed::evaluation
