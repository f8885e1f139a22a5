// The plan of an epoch: the batches, their pairs and their order. Pairs of similar length share a
// batch, so that there is little padding. The plan holds only the indices of pairs;
// heed/data/batch.h makes the tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/tensor/padding.h"

namespace heed {

/// The number of tokens of a pair on each side of a batch, including begin or end.
struct PairLength {
  std::int32_t source = 0;
  std::int32_t target = 0;
};

/// Sizes and order of batches.
struct BatchingOptions {
  /// Maximum number of tokens of a batch, including padding: rows times the longest sentence of
  /// either side. A longer pair is a batch by itself.
  std::int64_t batch_tokens = kBatchTokens;
  std::int64_t batch_sentences = 0;  ///< Maximum number of pairs of a batch; 0: no limit.
  bool shuffle = true;  ///< If false, short batches come first, the same in every epoch.
  std::uint64_t seed = 1;
};

/// The same batches without shuffling, for validation.
inline BatchingOptions in_order(BatchingOptions options) {
  options.shuffle = false;
  return options;
}

/// The batches of one epoch in order; every pair is in exactly one.
class BatchPlan {
 public:
  /// The number of batches.
  std::int64_t size() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
  /// The indices of the pairs of one batch.
  std::span<const std::int32_t> rows(std::int64_t batch) const;
  /// Appends a batch.
  void add(std::span<const std::int32_t> rows);

 private:
  std::vector<std::int32_t> rows_;
  std::vector<std::int64_t> starts_ = {0};
};

/// Plans epoch number `epoch`, from 0; the result depends only on the arguments. As in fairseq,
/// pairs are shuffled and then sorted by length with a stable sort, so that pairs of the same
/// lengths are grouped differently in each epoch. Finally the batches are shuffled.
BatchPlan plan_epoch(std::span<const PairLength> lengths, const BatchingOptions& options,
                     std::int64_t epoch);

/// The share of padding in all source and target tensors of a plan, from 0 to 1.
double padding_share(const BatchPlan& plan, std::span<const PairLength> lengths);

}  // namespace heed
