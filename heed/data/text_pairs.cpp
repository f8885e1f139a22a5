#include "heed/data/text_pairs.h"

#include <utility>
#include <vector>

namespace heed {

TextPairBatch make_text_pairs(const ParallelCorpus& corpus, std::span<const std::int32_t> pairs) {
  std::vector<std::span<const std::int32_t>> first, second;
  for (const std::int32_t pair : pairs) {
    first.push_back(corpus.source(pair));
    second.push_back(corpus.target(pair));
  }
  return {pad_rows(first, corpus.specials().source.padding),
          pad_rows(second, corpus.specials().target.padding)};
}

TextPairStream::TextPairStream(std::shared_ptr<const ParallelCorpus> corpus,
                               const BatchingOptions& options, std::size_t ahead)
    : EpochStream({.plan = [lengths = corpus->lengths(), options](
                               std::int64_t epoch) { return plan_epoch(lengths, options, epoch); },
                   .make = [corpus](std::span<const std::int32_t> rows,
                                    std::int64_t) { return make_text_pairs(*corpus, rows); }},
                  ahead) {}

}  // namespace heed
