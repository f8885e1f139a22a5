// Batches of pairs of texts that belong together, for training sentence encoders: both sides as the
// model reads them.
#pragma once

#include <memory>

#include "heed/data/epoch_stream.h"
#include "heed/data/parallel_corpus.h"
#include "heed/tensor/padding.h"

namespace heed {

/// Row i of one side belongs to row i of the other.
struct TextPairBatch {
  PaddedRows first, second;
};

/// Makes a batch of the given pairs. The corpus must hold both sides whole (end_source = false).
TextPairBatch make_text_pairs(const ParallelCorpus& corpus, std::span<const std::int32_t> pairs);

/// An endless stream of such batches.
class TextPairStream : public EpochStream<TextPairBatch> {
 public:
  TextPairStream(std::shared_ptr<const ParallelCorpus> corpus, const BatchingOptions& options,
                 std::size_t ahead = 4);
};

}  // namespace heed
