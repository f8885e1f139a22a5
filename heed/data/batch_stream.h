// The batches of a translator's training, without end: see heed/data/epoch_stream.h for how a
// stream keeps its place.
//
//   BatchStream stream(corpus, {.batch_tokens = 4096, .seed = 1});
//   const Batch batch = stream.next();
//   checkpoint.position = stream.position();
#pragma once

#include <memory>

#include "heed/data/batch.h"
#include "heed/data/batching.h"
#include "heed/data/epoch_stream.h"
#include "heed/data/parallel_corpus.h"

namespace heed {

class BatchStream : public EpochStream<Batch> {
 public:
  /// Streams a corpus, which must not be empty.
  BatchStream(std::shared_ptr<const ParallelCorpus> corpus, const BatchingOptions& options,
              std::size_t ahead = 4);
};

}  // namespace heed
