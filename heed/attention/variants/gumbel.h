// Straight-through Gumbel attention (Jang et al. 2017; Maddison et al. 2017): each query reads one
// position, sampled as in hard attention. The gradient is that of reading all positions by
// softmax((score + gumbel) / temperature), with the same noise as the sample. It is biased, unlike
// REINFORCE, but has a small variance. Outside training the most probable position is read, without
// noise.
#pragma once

#include "heed/attention/variants/global.h"

namespace heed {

struct GumbelConfig {
  GlobalConfig global = {};
  double temperature = 1.0;
  bool sample = false;  // outside training, too

  void fields(io::Fields& field);
  void validate() const;
};

class GumbelAttention : public GlobalAttention {
 public:
  using Config = GumbelConfig;
  explicit GumbelAttention(const Config& config, Generator& generator = default_generator());

 protected:
  void specialise(AttentionSpec& spec, const AttentionInput& in, const Place& place) const override;
  Tensor attend(const Call& call) const override;
  std::string_view name() const override { return "gumbel"; }

 private:
  void record_entropy(const Call& call) const;

  double temperature_;
  bool sample_;
};

inline constexpr Mechanism kGumbel = mechanism<GumbelAttention>(
    "gumbel",
    {.title = "Straight-through Gumbel attention",
     .formula = "h_j of the greatest s_ij + g_ij; backward through softmax_j((s_ij + g_ij) / tau)",
     .paper = "Jang et al. 2017, Categorical Reparameterization with Gumbel-Softmax",
     .cost = "n^2 d, twice in training",
     .composes = kWithMasks},
    {.decodes = true, .plain_values = true, .gradient = Gradient::straight_through});

}  // namespace heed
