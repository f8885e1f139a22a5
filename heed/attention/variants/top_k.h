// Top-k attention (Zhao et al. 2019, Explicit Sparse Transformer): of all visible keys, a position
// attends only to the k with the largest scores. All scores are computed; the values of the other
// keys are not read.
#pragma once

#include "heed/attention/variants/multi_head.h"

namespace heed {

struct TopKConfig {
  MultiHeadConfig multi_head = {};
  std::int64_t k = 8;

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters as MultiHeadAttention. The choice of the keys has no gradient.
class TopKAttention : public MultiHeadAttention {
 public:
  using Config = TopKConfig;
  explicit TopKAttention(const Config& config, Generator& generator = default_generator());

 protected:
  void specialise(AttentionSpec& spec, Corner corner) const override;
  std::string_view name() const override { return "top_k"; }

 private:
  std::int64_t k_;
};

inline constexpr Mechanism kTopK = mechanism<TopKAttention>(
    "top_k",
    {.title = "Top-k attention",
     .formula = "softmax over the k largest of each row of Q K^T / sqrt(d), times V",
     .paper = "Zhao et al. 2019, Explicit Sparse Transformer",
     .cost = "n^2 d",
     .composes = kWithEverything,
     .sample = "k=3"},
    {.decodes = true});

}  // namespace heed
