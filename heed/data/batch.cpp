#include "heed/data/batch.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/create.h"
#include "heed/tensor/padding.h"

namespace heed {
namespace {

void put_source(Batch& batch, const ParallelCorpus& corpus, std::span<const std::int32_t> pairs) {
  std::vector<std::span<const std::int32_t>> rows;
  rows.reserve(pairs.size());
  for (const std::int32_t pair : pairs) rows.push_back(corpus.source(pair));
  PaddedRows padded = pad_rows(rows, corpus.specials().source.padding);
  batch.source = std::move(padded.tokens);
  batch.source_lengths = std::move(padded.lengths);
  batch.source_tokens = padded.total;
}

void put_target(Batch& batch, const ParallelCorpus& corpus, std::span<const std::int32_t> pairs) {
  std::size_t longest = 0;
  for (const std::int32_t pair : pairs) longest = std::max(longest, corpus.target(pair).size());
  const auto b = static_cast<std::int64_t>(pairs.size());
  const auto t = static_cast<std::int64_t>(longest) + 1;
  batch.target = empty({b, t}, DType::i64);
  batch.expected = empty({b, t}, DType::i64);
  batch.target_lengths = empty({b}, DType::i64);
  std::int64_t* given = batch.target.mutable_data<std::int64_t>();
  std::int64_t* expected = batch.expected.mutable_data<std::int64_t>();
  std::int64_t* length = batch.target_lengths.mutable_data<std::int64_t>();
  const SpecialTokens& special = corpus.specials().target;
  for (const std::int32_t pair : pairs) {
    const std::span<const std::int32_t> words = corpus.target(pair);
    given[0] = special.begin;
    std::fill(std::copy(words.begin(), words.end(), given + 1), given + t, special.padding);
    std::int64_t* const end = std::copy(words.begin(), words.end(), expected);
    *end = special.end;
    std::fill(end + 1, expected + t, kIgnored);
    *length++ = static_cast<std::int64_t>(words.size()) + 1;
    batch.target_tokens += static_cast<std::int64_t>(words.size()) + 1;
    given += t;
    expected += t;
  }
}

}  // namespace

Batch make_batch(const ParallelCorpus& corpus, std::span<const std::int32_t> pairs) {
  HEED_ASSERT(!pairs.empty());
  for (const std::int32_t pair : pairs) HEED_ASSERT(pair >= 0 && pair < corpus.size());
  Batch batch;
  put_source(batch, corpus, pairs);
  put_target(batch, corpus, pairs);
  return batch;
}

}  // namespace heed
