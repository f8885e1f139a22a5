// TER, the translation edit rate (Snover et al. 2006): edits (edit_rate.h) for each hundred words
// of the reference; lower is better. Digit for digit that of sacreBLEU, which follows Tercom.
#pragma once

#include "heed/evaluation/metric.h"

namespace heed::evaluation {

struct TerOptions {
  bool normalized = false;      ///< Cut off punctuation and resolve entities such as &quot;.
  bool no_punct = false;        ///< Leave out punctuation.
  bool asian_support = false;   ///< Both also for Chinese and Japanese characters.
  bool case_sensitive = false;  ///< Do not make everything lower case.
};

/// A line as TER compares it: words with single spaces between them.
std::u32string ter_words(std::string_view line, const TerOptions& options);

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
