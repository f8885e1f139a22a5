// Restricted self-attention (Vaswani et al. 2017, section 4): a position sees only its
// neighbourhood, so that cost grows with the length and not with its square, and distant positions
// meet after n / r layers. Decoding keeps only what can still be seen.
#pragma once

#include "heed/attention/variants/multi_head.h"

namespace heed {

struct RestrictedConfig {
  MultiHeadConfig multi_head = {};
  std::int64_t left = 16;   // -1: as many as there are
  std::int64_t right = 16;  // -1: as many as there are

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters as MultiHeadAttention. In a memory, a position sees the neighbourhood of its own
/// number.
class RestrictedAttention : public MultiHeadAttention {
 public:
  using Config = RestrictedConfig;
  explicit RestrictedAttention(const Config& config, Generator& generator = default_generator());

 protected:
  void specialise(AttentionSpec& spec, Corner corner) const override;
  std::optional<std::int64_t> reach() const override;
  std::string_view name() const override { return "restricted"; }

 private:
  std::int64_t left_, right_;
};

inline constexpr Mechanism kRestricted = mechanism<RestrictedAttention>(
    "restricted",
    {.title = "Restricted self-attention",
     .formula = "softmax over keys i - left .. i + right of Q K^T / sqrt(d), times V",
     .paper = "Vaswani et al. 2017, Attention Is All You Need, section 4",
     .cost = "n r d, r = left + 1 + right",
     .composes = kWithEverything,
     .sample = "left=3 right=2"},
    {.decodes = true, .growth = 1.0});

}  // namespace heed
