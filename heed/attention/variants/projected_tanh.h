// Projected tanh attention: queries, keys and values are tanh of learned linear maps,
//
//   Q = tanh(X W_Q), K = tanh(M W_K), V = tanh(M W_V),   softmax(Q K^T / sqrt(d)) V,
//
// so no score exceeds sqrt(d) and no feature of the result 1 before the output layer. It is
// multi-head attention with that activation, under its usual name, and by default with one head.
#pragma once

#include "heed/attention/variants/multi_head.h"

namespace heed {

struct ProjectedTanhConfig {
  MultiHeadConfig multi_head = default_multi_head();

  static MultiHeadConfig default_multi_head();
  void fields(io::Fields& field) { multi_head.fields(field); }
  void validate() const { multi_head.validate(); }
};

/// Parameters as MultiHeadAttention.
class ProjectedTanhAttention : public MultiHeadAttention {
 public:
  using Config = ProjectedTanhConfig;
  explicit ProjectedTanhAttention(const Config& config, Generator& generator = default_generator());

 protected:
  std::string_view name() const override { return "projected_tanh"; }
};

inline constexpr Mechanism kProjectedTanh = mechanism<ProjectedTanhAttention>(
    "projected_tanh",
    {.title = "Projected tanh attention",
     .formula = "softmax(Q K^T / sqrt(d)) V, Q = tanh(X W_Q), K = tanh(M W_K), V = tanh(M W_V)",
     .paper = "the projections of Vaswani et al. 2017 with the tanh of Bahdanau et al. 2015",
     .cost = "n^2 d",
     .composes = kWithEverything},
    {.decodes = true});

}  // namespace heed
