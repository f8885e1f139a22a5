// BLEU (Papineni et al. 2002): brevity penalty times the geometric mean of the n-gram precisions,
//   BLEU = min(1, e^(1 - r/h)) * exp(1/N sum_n log p_n),
// where h and r are the lengths of the translation and of the reference nearest to it in length.
// The scores are equal to those of sacreBLEU (Post 2018), digit for digit.
#pragma once

#include <array>
#include <optional>

#include "heed/evaluation/bleu_tokenizer.h"
#include "heed/evaluation/metric.h"

namespace heed::evaluation {

/// What replaces a precision of 0 (Chen and Cherry 2014): exponential: 1/2, 1/4, … of a match;
/// floor: a constant; add_k: k is added to all counts but those of single words; none: nothing.
enum class Smoothing { exponential, floor, add_k, none };

constexpr std::array<io::EnumName<Smoothing>, 4> enum_names(Smoothing) {
  return {{{Smoothing::exponential, "exp"},
           {Smoothing::floor, "floor"},
           {Smoothing::add_k, "add-k"},
           {Smoothing::none, "none"}}};
}

/// Options of Bleu.
struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  bool lowercase = false;
  Smoothing smoothing = Smoothing::exponential;
  std::optional<double> smooth_value = {};  ///< Default: 0.1 for floor, 1 for add-k.
  int max_order = 4;                        ///< The longest n-grams counted.
  bool effective_order = false;             ///< Skip orders that the sentence is too short for.
};

/// The BLEU metric.
class Bleu : public Metric {
 public:
  explicit Bleu(const BleuOptions& options = {});

  std::string name() const override { return "BLEU"; }
  /// Both lengths, then matches of each order, then n-grams of each order.
  Statistics statistics(std::string_view hypothesis,
                        std::span<const std::string> references) const override;
  Score score(std::span<const double> sums) const override;
  Sample sample(std::span<const float> sums) const override;
  std::vector<SignatureItem> signature() const override;

 private:
  std::u32string prepare(std::string_view line) const;

  BleuOptions options_;
};

}  // namespace heed::evaluation
