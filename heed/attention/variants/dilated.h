// Dilated self-attention: a position attends to neighbours at a fixed step, so that few keys cover
// a long distance (Beltagy et al. 2020, section 3.1, after WaveNet, van den Oord et al. 2016).
#pragma once

#include "heed/attention/masks.h"
#include "heed/attention/variants/multi_head.h"

namespace heed {

struct DilatedConfig {
  MultiHeadConfig multi_head = {};
  std::int64_t left = 8;   // number of earlier keys a position attends to
  std::int64_t right = 8;  // number of later keys a position attends to
  std::int64_t step = 2;   // distance between these keys

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters as MultiHeadAttention.
class DilatedAttention : public MultiHeadAttention {
 public:
  using Config = DilatedConfig;
  explicit DilatedAttention(const Config& config, Generator& generator = default_generator());

 protected:
  void specialise(AttentionSpec& spec, Corner corner) const override;
  std::optional<std::int64_t> reach() const override { return window_.left * window_.step; }
  std::string_view name() const override { return "dilated"; }

 private:
  DilatedWindow window_;
};

inline constexpr Mechanism kDilated = mechanism<DilatedAttention>(
    "dilated",
    {.title = "Dilated attention",
     .formula = "softmax over keys i + m step, m = -left .. right, of Q K^T / sqrt(d), times V",
     .paper = "Beltagy et al. 2020, Longformer; van den Oord et al. 2016, WaveNet",
     .cost = "n r d, r = (left + right) step + 1: gaps are computed too",
     .composes = kWithEverything,
     .sample = "left=2 right=1 step=3"},
    {.decodes = true, .growth = 1.0});

}  // namespace heed
