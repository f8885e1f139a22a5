// A batch of sentence pairs as tensors for a translator: the decoder reads begin y1 … yn and must
// predict y1 … yn end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/parallel_corpus.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Marks positions of `expected` that do not count; the default ignore_index of cross_entropy.
inline constexpr std::int64_t kIgnored = -100;

/// Sentences that a decoder writes.
struct TargetBatch {
  Tensor target;            ///< i64 [B, T]: begin y1 … yn, padded.
  Tensor expected;          ///< i64 [B, T]: y1 … yn end, then kIgnored.
  Tensor lengths;           ///< i64 [B]: n + 1.
  std::int64_t tokens = 0;  ///< Without padding; the end token counts.
};

/// The batch of rows of tokens without begin and end.
TargetBatch target_batch(std::span<const std::span<const std::int32_t>> rows,
                         const SpecialTokens& special);

/// One batch of sentence pairs.
struct Batch {
  Tensor source;          ///< i64 [B, S], padded with the padding token of the source.
  Tensor source_lengths;  ///< i64 [B]
  Tensor target;          ///< i64 [B, T]: begin y1 … yn, padded with the target's padding.
  Tensor expected;        ///< i64 [B, T]: y1 … yn end, then kIgnored.
  Tensor target_lengths;  ///< i64 [B]: n + 1.
  Tensor copies = {};     ///< i64 [B, S]: the source as tokens of the target, for models that copy.
  std::int64_t source_tokens = 0;  ///< Without padding; the end token counts.
  std::int64_t target_tokens = 0;  ///< Without padding; the end token counts.
};

/// The tokens of some pairs.
struct PairRows {
  std::vector<std::span<const std::int32_t>> sources;  ///< As the model reads them.
  std::vector<std::span<const std::int32_t>> targets;  ///< Without begin and end.
  /// For models that copy: the sources as tokens of the target, and the size of its vocabulary.
  /// Tokens from there on are words that only the sentence has; such a model reads them as unknown.
  std::vector<std::span<const std::int32_t>> copies = {};
  std::int64_t target_vocabulary = 0;
};

/// Makes a batch of pairs, in the given order; there must be at least one.
Batch make_batch(const PairRows& rows, const PairSpecials& specials);
/// The same for pairs of a corpus.
Batch make_batch(const ParallelCorpus& corpus, std::span<const std::int32_t> pairs);

}  // namespace heed
