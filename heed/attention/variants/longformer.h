// Longformer's attention (Beltagy et al. 2020): a window around each position, and a few global
// positions that see all others and are seen by all. One set of projections serves both; the
// paper's second set for the global positions is not here.
#pragma once

#include "heed/attention/variants/multi_head.h"

namespace heed {

struct LongformerConfig {
  MultiHeadConfig multi_head = {};
  std::int64_t left = 16;
  std::int64_t right = 16;
  std::int64_t global_first = 1;                    // so many positions at the start are global
  std::vector<std::int64_t> global_positions = {};  // and these

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters as MultiHeadAttention. With a memory, positions of both are global.
class LongformerAttention : public MultiHeadAttention {
 public:
  using Config = LongformerConfig;
  explicit LongformerAttention(const Config& config, Generator& generator = default_generator());

 protected:
  void specialise(AttentionSpec& spec, Corner corner) const override;
  std::string_view name() const override { return "longformer"; }

 private:
  std::int64_t left_, right_;
  std::vector<std::int64_t> globals_;
};

inline constexpr Mechanism kLongformer = mechanism<LongformerAttention>(
    "longformer",
    {.title = "Window and global positions",
     .formula = "softmax over keys i - left .. i + right and all pairs with a global position",
     .paper = "Beltagy et al. 2020, Longformer: The Long-Document Transformer",
     .cost = "n (r + 2 g) d, r = left + 1 + right, g global positions",
     .composes = kWithEverything,
     .sample = "left=2 right=1 global_first=1 global_positions=6"},
    {.decodes = true, .growth = 1.0});

}  // namespace heed
