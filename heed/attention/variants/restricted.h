// Restricted self-attention (Vaswani et al. 2017, section 4): a position attends only to its
// neighbourhood, so that the cost is linear in the length rather than quadratic, and information
// between distant positions needs n / r layers. Decoding keeps only the positions that are still
// visible.
#pragma once

#include "heed/attention/variants/multi_head.h"

namespace heed {

struct RestrictedConfig {
  MultiHeadConfig multi_head = {};
  std::int64_t left = 16;   // number of earlier positions a position attends to; -1: all
  std::int64_t right = 16;  // number of later positions a position attends to; -1: all

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters as MultiHeadAttention. With a memory, position i attends to the neighbourhood of
/// position i of the memory.
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
