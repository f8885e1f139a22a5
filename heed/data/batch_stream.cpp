#include "heed/data/batch_stream.h"

#include <utility>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

EpochStream<Batch>::Maker maker(std::shared_ptr<const ParallelCorpus> corpus,
                                const BatchingOptions& options) {
  HEED_CHECK(corpus->size() > 0, "[batches] the corpus has no pairs: {}",
             describe(corpus->report()));
  const auto lengths = std::make_shared<const std::vector<PairLength>>(corpus->lengths());
  return {.plan = [lengths,
                   options](std::int64_t epoch) { return plan_epoch(*lengths, options, epoch); },
          .make = [corpus = std::move(corpus)](std::span<const std::int32_t> rows,
                                               std::int64_t) { return make_batch(*corpus, rows); }};
}

}  // namespace

BatchStream::BatchStream(std::shared_ptr<const ParallelCorpus> corpus,
                         const BatchingOptions& options, std::size_t ahead)
    : EpochStream(maker(std::move(corpus), options), ahead) {}

}  // namespace heed
