// TER, the translation edit rate (Snover et al. 2006): edits (edit_rate.h) per hundred words of the
// reference; lower is better. The scores are equal to those of sacreBLEU, which follows Tercom,
// digit for digit.
#pragma once

#include "heed/evaluation/metric.h"

namespace heed::evaluation {

/// Options of Ter.
struct TerOptions {
  bool normalized = false;      ///< Separate punctuation and resolve entities such as &quot;.
  bool no_punct = false;        ///< Remove punctuation.
  bool asian_support = false;   ///< Apply both to Chinese and Japanese characters too.
  bool case_sensitive = false;  ///< Do not convert to lower case.
};

/// A line in the form that TER compares: words separated by single spaces.
std::u32string ter_words(std::string_view line, const TerOptions& options);

/// The TER metric.
class Ter : public Metric {
 public:
  explicit Ter(const TerOptions& options = {}) : options_(options) {}

  std::string name() const override { return "TER"; }
  /// The fewest edits to a reference, and the mean length of the references.
  Statistics statistics(std::string_view hypothesis,
                        std::span<const std::string> references) const override;
  Score score(std::span<const double> sums) const override;
  Sample sample(std::span<const float> sums) const override;
  std::vector<SignatureItem> signature() const override;

 private:
  TerOptions options_;
};

}  // namespace heed::evaluation
