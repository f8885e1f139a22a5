// A batch of sentence pairs as tensors for a translator: the decoder reads begin y1 … yn and must
// predict y1 … yn end.
#pragma once

#include <cstdint>
#include <span>

#include "heed/data/parallel_corpus.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Marks positions of `expected` that do not count; the default ignore_index of cross_entropy.
inline constexpr std::int64_t kIgnored = -100;

/// One batch of sentence pairs.
struct Batch {
  Tensor source;          ///< i64 [B, S], padded with the padding token of the source.
  Tensor source_lengths;  ///< i64 [B]
  Tensor target;          ///< i64 [B, T]: begin y1 … yn, padded with the target's padding.
  Tensor expected;        ///< i64 [B, T]: y1 … yn end, then kIgnored.
  Tensor target_lengths;  ///< i64 [B]: n + 1.
  std::int64_t source_tokens = 0;  ///< Without padding; the end token counts.
  std::int64_t target_tokens = 0;  ///< Without padding; the end token counts.
};

/// Makes a batch of the given pairs, in the given order; there must be at least one.
Batch make_batch(const ParallelCorpus& corpus, std::span<const std::int32_t> pairs);

}  // namespace heed
