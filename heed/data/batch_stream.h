// An endless stream of training batches for a translator. See heed/data/epoch_stream.h for
// positions in a stream.
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

/// Batches of sentence pairs, epoch after epoch.
class BatchStream : public EpochStream<Batch> {
 public:
  /// Streams a corpus, which must not be empty; `ahead` batches are kept ready.
  BatchStream(std::shared_ptr<const ParallelCorpus> corpus, const BatchingOptions& options,
              std::size_t ahead = 4);
};

}  // namespace heed
