#include "heed/data/batch.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/tensor/create.h"
#include "heed/tensor/padding.h"

namespace heed {
namespace {

void put_source(Batch& batch, const PairRows& rows, const SpecialTokens& special) {
  PaddedRows padded = pad_rows(rows.sources, special.padding);
  batch.source = std::move(padded.tokens);
  batch.source_lengths = std::move(padded.lengths);
  batch.source_tokens = padded.total;
}

void put_target(Batch& batch, const PairRows& rows, const SpecialTokens& special) {
  TargetBatch targets = target_batch(rows.targets, special);
  if (!rows.copies.empty()) {
    std::int64_t* const given = targets.target.mutable_data<std::int64_t>();
    std::replace_if(
        given, given + targets.target.numel(),
        [&](std::int64_t token) { return token >= rows.target_vocabulary; }, special.unknown);
  }
  batch.target = std::move(targets.target);
  batch.expected = std::move(targets.expected);
  batch.target_lengths = std::move(targets.lengths);
  batch.target_tokens = targets.tokens;
}

}  // namespace

TargetBatch target_batch(std::span<const std::span<const std::int32_t>> rows,
                         const SpecialTokens& special) {
  std::size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  const std::int64_t B = std::ssize(rows), T = static_cast<std::int64_t>(longest) + 1;
  TargetBatch batch{.target = empty({B, T}, DType::i64),
                    .expected = empty({B, T}, DType::i64),
                    .lengths = empty({B}, DType::i64)};
  std::int64_t* given = batch.target.mutable_data<std::int64_t>();
  std::int64_t* expected = batch.expected.mutable_data<std::int64_t>();
  std::int64_t* length = batch.lengths.mutable_data<std::int64_t>();
  for (const std::span<const std::int32_t> words : rows) {
    given[0] = special.begin;
    std::fill(std::copy(words.begin(), words.end(), given + 1), given + T, special.padding);
    std::int64_t* const end = std::copy(words.begin(), words.end(), expected);
    *end = special.end;
    std::fill(end + 1, expected + T, kIgnored);
    *length++ = std::ssize(words) + 1;
    batch.tokens += std::ssize(words) + 1;
    given += T;
    expected += T;
  }
  return batch;
}

Batch make_batch(const PairRows& rows, const PairSpecials& specials) {
  HEED_ASSERT(!rows.sources.empty() && rows.sources.size() == rows.targets.size());
  Batch batch;
  put_source(batch, rows, specials.source);
  put_target(batch, rows, specials.target);
  if (!rows.copies.empty()) {
    batch.copies = pad_rows(rows.copies, specials.target.padding).tokens;
  }
  return batch;
}

Batch make_batch(const ParallelCorpus& corpus, std::span<const std::int32_t> pairs) {
  PairRows rows;
  for (const std::int32_t pair : pairs) {
    HEED_ASSERT(pair >= 0 && pair < corpus.size());
    rows.sources.push_back(corpus.source(pair));
    rows.targets.push_back(corpus.target(pair));
    if (corpus.has_copies()) rows.copies.push_back(corpus.copies(pair));
  }
  rows.target_vocabulary = corpus.target_vocabulary();
  return make_batch(rows, corpus.specials());
}

}  // namespace heed
