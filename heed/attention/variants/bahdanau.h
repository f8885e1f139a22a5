// Additive attention (Bahdanau et al. 2015): softmax(v^T tanh(W x + U h)) over the states of the
// memory. It is global attention with that score, under its usual name.
#pragma once

#include "heed/attention/variants/global.h"

namespace heed {

struct BahdanauConfig {
  std::int64_t embed = 64;
  std::int64_t memory_embed = 0;  // 0: as embed
  std::int64_t hidden = 0;        // features of W x and U h; 0: as embed

  void fields(io::Fields& field);
};

class BahdanauAttention : public GlobalAttention {
 public:
  using Config = BahdanauConfig;
  explicit BahdanauAttention(const Config& config, Generator& generator = default_generator());

 protected:
  std::string_view name() const override { return "bahdanau"; }
};

inline constexpr Mechanism kBahdanau = mechanism<BahdanauAttention>(
    "bahdanau",
    {.title = "Additive attention",
     .formula = "sum_j softmax_j(v^T tanh(W x_i + U h_j)) h_j",
     .paper = "Bahdanau et al. 2015, Neural Machine Translation by Jointly Learning to Align and "
              "Translate",
     .cost = "n^2 d, with a tanh for each",
     .composes = kWithMasks},
    {.decodes = true, .plain_values = true});

}  // namespace heed
