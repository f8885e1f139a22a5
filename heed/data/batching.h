// The plan of an epoch: which pairs go together into which batch, in which order. Pairs of similar
// length share a batch, so that little of it is padding; the plan holds numbers of pairs only,
// heed/data/batch.h makes tensors of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/tensor/padding.h"

namespace heed {

/// The tokens that one pair takes on each side of a batch: begin or end included.
struct PairLength {
  std::int32_t source = 0;
  std::int32_t target = 0;
};

struct BatchingOptions {
  /// The most tokens of a batch, padding included: rows times the longest sentence of either side.
  /// A pair longer than this is a batch of its own.
  std::int64_t batch_tokens = kBatchTokens;
  std::int64_t batch_sentences = 0;  ///< The most pairs of a batch; 0: as many as the tokens allow.
  bool shuffle = true;               ///< False: short batches first, the same in every epoch.
  std::uint64_t seed = 1;
};

/// The batches of one epoch in order; every pair is in exactly one.
class BatchPlan {
 public:
  /// The number of batches.
  std::int64_t size() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
  /// The numbers of the pairs of one batch.
  std::span<const std::int32_t> rows(std::int64_t batch) const;
  /// Appends a batch.
  void add(std::span<const std::int32_t> rows);

 private:
  std::vector<std::int32_t> rows_;
  std::vector<std::int64_t> starts_ = {0};
};

/// Plans epoch number `epoch`, from 0: a function of its arguments alone. As in fairseq, pairs are
/// shuffled and then sorted by length, stably: which of many pairs of the same lengths meet in a
/// batch differs from epoch to epoch. The batches are shuffled at last.
BatchPlan plan_epoch(std::span<const PairLength> lengths, const BatchingOptions& options,
                     std::int64_t epoch);

/// The share of padding in all source and target tensors of a plan, from 0 to 1.
double padding_share(const BatchPlan& plan, std::span<const PairLength> lengths);

}  // namespace heed
