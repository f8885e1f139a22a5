// Longformer's attention (Beltagy et al. 2020): a window around each position, and a few global
// positions that attend to all positions and are visible to all. Both use one set of projections;
// the paper has a second set for global positions.
#pragma once

#include "heed/attention/variants/multi_head.h"

namespace heed {

struct LongformerConfig {
  MultiHeadConfig multi_head = {};
  std::int64_t left = 16;
  std::int64_t right = 16;
  std::int64_t global_first = 1;                    // number of global positions at the start
  std::vector<std::int64_t> global_positions = {};  // further global positions

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters as MultiHeadAttention. With a memory, the positions are global both as queries and as
/// keys.
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
