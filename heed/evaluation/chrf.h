// chrF (Popović 2015): the F-score of character n-grams, recall counting beta^2 times as much as
// precision; with word n-grams too it is chrF+ (order 1) and chrF++ (order 2, Popović 2017). Digit
// for digit that of sacreBLEU.
#pragma once

#include "heed/evaluation/metric.h"

namespace heed::evaluation {

struct ChrfOptions {
  int char_order = 6;
  int word_order = 0;
  int beta = 2;
  bool lowercase = false;
  bool whitespace = false;  ///< Count white space among the characters.
  bool eps_smoothing =
      false;  ///< Average the orders' F-scores, with 1e-16 for those without n-grams,
              ///< instead of averaging precision and recall of those that have some.
};

class Chrf : public Metric {
 public:
  explicit Chrf(const ChrfOptions& options = {});

  /// chrF2 for beta 2, with a + for each word order.
  std::string name() const override;
  /// For each order: n-grams of the translation, of the reference, and matches; of the reference
  /// that gives the best score.
  Statistics statistics(std::string_view hypothesis,
                        std::span<const std::string> references) const override;
  Score score(std::span<const double> sums) const override;
  Sample sample(std::span<const float> sums) const override;
  std::vector<SignatureItem> signature() const override;

 private:
  ChrfOptions options_;
};

}  // namespace heed::evaluation
