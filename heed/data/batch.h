// One step's worth of sentence pairs as tensors, the way a translator reads them: the decoder is
// given begin y1 … yn and must say y1 … yn end.
#pragma once

#include <cstdint>
#include <span>

#include "heed/data/parallel_corpus.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Marks places of `expected` that do not count; cross_entropy's default.
inline constexpr std::int64_t kIgnored = -100;

struct Batch {
  Tensor source;          ///< i64 [B, S], padded with the source's padding token.
  Tensor source_lengths;  ///< i64 [B]
  Tensor target;          ///< i64 [B, T]: begin y1 … yn, padded with the target's padding token.
  Tensor expected;        ///< i64 [B, T]: y1 … yn end, then kIgnored.
  Tensor target_lengths;  ///< i64 [B]: n + 1.
  std::int64_t source_tokens = 0;  ///< Without padding; the end token counts.
  std::int64_t target_tokens = 0;  ///< Without padding; the end token counts.
};

/// Makes a batch of chosen pairs, in the order given; at least one.
Batch make_batch(const ParallelCorpus& corpus, std::span<const std::int32_t> pairs);

}  // namespace heed
