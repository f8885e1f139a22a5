// Block-sparse attention (Child et al. 2019, Sparse Transformer): a position attends to the blocks
// around its own, and to one in every so many of the other blocks, at fixed places or at a stride.
// Hidden blocks are not computed.
#pragma once

#include "heed/attention/masks/block_pattern.h"
#include "heed/attention/variants/multi_head.h"

namespace heed {

struct BlockSparseConfig {
  MultiHeadConfig multi_head = {};
  BlockPattern pattern = {};

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters as MultiHeadAttention.
class BlockSparseAttention : public MultiHeadAttention {
 public:
  using Config = BlockSparseConfig;
  explicit BlockSparseAttention(const Config& config, Generator& generator = default_generator());

 protected:
  void specialise(AttentionSpec& spec, Corner corner) const override;
  std::string_view name() const override { return "block_sparse"; }

 private:
  BlockPattern pattern_;
};

inline constexpr Mechanism kBlockSparse = mechanism<BlockSparseAttention>(
    "block_sparse",
    {.title = "Block-sparse attention",
     .formula = "softmax over near blocks and one in `every` far ones of Q K^T / sqrt(d), times V",
     .paper = "Child et al. 2019, Generating Long Sequences with Sparse Transformers",
     .cost = "n (n / every + (2 local + 1) block) d; n^1.5 d with every ~ sqrt(n)",
     .composes = kWithEverything,
     .sample = "block=3 local=1 every=3 far=strided"},
    {.decodes = true});

}  // namespace heed
