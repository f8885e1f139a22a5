// Entmax attention (Peters, Niculae and Martins 2019; Correia et al. 2019): multi-head attention
// with sparse weights. Keys whose scores are below a threshold of their query have a weight of
// exactly 0; unlike in top-k attention, how many depends on the scores, and all of them have the
// right gradient. With alpha = 2 it is sparsemax (Martins and Astudillo 2016).
#pragma once

#include "heed/attention/variants/multi_head.h"

namespace heed {

struct EntmaxConfig {
  MultiHeadConfig multi_head = {};
  double alpha = 1.5;  // above 1, at most 2

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters as MultiHeadAttention.
class EntmaxAttention : public MultiHeadAttention {
 public:
  using Config = EntmaxConfig;
  explicit EntmaxAttention(const Config& config, Generator& generator = default_generator());

 protected:
  void specialise(AttentionSpec& spec, Corner corner) const override;
  std::string_view name() const override { return "entmax"; }

 private:
  double alpha_;
};

inline constexpr Mechanism kEntmax = mechanism<EntmaxAttention>(
    "entmax",
    {.title = "Entmax attention",
     .formula = "max(0, (alpha - 1) s_ij - t_i)^(1 / (alpha - 1)) for the scores s = Q K^T / "
                "sqrt(d), times V; t_i makes row i sum to 1",
     .paper = "Peters et al. 2019, Sparse Sequence-to-Sequence Models; alpha = 2: Martins and "
              "Astudillo 2016",
     .cost = "n^2 d",
     .composes = kWithEverything,
     .sample = "scale=2"},
    {.decodes = true});

}  // namespace heed
