#include "heed/data/batching.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "heed/base/error.h"
#include "heed/data/shuffle.h"

namespace heed {
namespace {

std::int64_t longer_side(const PairLength& pair) { return std::max(pair.source, pair.target); }

// Sorts by source length, then by target length. The order of target lengths alternates (rising,
// falling), so that target lengths are also similar where one source length ends and the next
// begins.
auto sorting_key(const PairLength& pair) {
  return std::tuple(pair.source, pair.source % 2 == 0 ? pair.target : -pair.target);
}

std::vector<std::int32_t> order_of_pairs(std::span<const PairLength> lengths,
                                         const BatchingOptions& options, std::int64_t epoch) {
  std::vector<std::int32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  if (options.shuffle) shuffle(order, data_stream(options.seed, DataPurpose::pairs, epoch));
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return sorting_key(lengths[static_cast<std::size_t>(a)]) <
           sorting_key(lengths[static_cast<std::size_t>(b)]);
  });
  return order;
}

// Splits the ordered pairs into batches; a new batch begins where the next pair would not fit.
std::vector<std::span<const std::int32_t>> cut(std::span<const std::int32_t> order,
                                               std::span<const PairLength> lengths,
                                               const BatchingOptions& options) {
  const std::int64_t most_rows = options.batch_sentences > 0
                                     ? options.batch_sentences
                                     : std::numeric_limits<std::int64_t>::max();
  std::vector<std::span<const std::int32_t>> batches;
  std::size_t begin = 0;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t length = longer_side(lengths[static_cast<std::size_t>(order[i])]);
    const auto rows = static_cast<std::int64_t>(i - begin);
    const bool fits =
        rows < most_rows && (rows + 1) * std::max(longest, length) <= options.batch_tokens;
    if (rows > 0 && !fits) {
      batches.push_back(order.subspan(begin, i - begin));
      begin = i;
      longest = 0;
    }
    longest = std::max(longest, length);
  }
  if (begin < order.size()) batches.push_back(order.subspan(begin));
  return batches;
}

}  // namespace

std::span<const std::int32_t> BatchPlan::rows(std::int64_t batch) const {
  HEED_ASSERT(batch >= 0 && batch < size());
  const auto begin = static_cast<std::size_t>(starts_[static_cast<std::size_t>(batch)]);
  const auto end = static_cast<std::size_t>(starts_[static_cast<std::size_t>(batch) + 1]);
  return std::span(rows_).subspan(begin, end - begin);
}

void BatchPlan::add(std::span<const std::int32_t> rows) {
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  starts_.push_back(static_cast<std::int64_t>(rows_.size()));
}

BatchPlan plan_epoch(std::span<const PairLength> lengths, const BatchingOptions& options,
                     std::int64_t epoch) {
  HEED_CHECK(options.batch_tokens > 0, "[batching] batch_tokens is {}: it must be at least 1",
             options.batch_tokens);
  HEED_CHECK(options.batch_sentences >= 0,
             "[batching] batch_sentences is {}: it must be 0 (no limit) or more",
             options.batch_sentences);
  HEED_CHECK(lengths.size() <= std::numeric_limits<std::int32_t>::max(),
             "[batching] {} pairs: at most 2^31 - 1 are supported; split the corpus",
             lengths.size());
  const std::vector<std::int32_t> order = order_of_pairs(lengths, options, epoch);
  std::vector<std::span<const std::int32_t>> batches = cut(order, lengths, options);
  if (options.shuffle) shuffle(batches, data_stream(options.seed, DataPurpose::batches, epoch));
  BatchPlan plan;
  for (const std::span<const std::int32_t> rows : batches) plan.add(rows);
  return plan;
}

double padding_share(const BatchPlan& plan, std::span<const PairLength> lengths) {
  std::int64_t tokens = 0, places = 0;
  for (std::int64_t batch = 0; batch < plan.size(); ++batch) {
    std::int64_t source = 0, target = 0;
    const std::span<const std::int32_t> rows = plan.rows(batch);
    for (const std::int32_t row : rows) {
      const PairLength& pair = lengths[static_cast<std::size_t>(row)];
      tokens += pair.source + pair.target;
      source = std::max<std::int64_t>(source, pair.source);
      target = std::max<std::int64_t>(target, pair.target);
    }
    places += (source + target) * static_cast<std::int64_t>(rows.size());
  }
  return places == 0 ? 0.0 : 1.0 - static_cast<double>(tokens) / static_cast<double>(places);
}

}  // namespace heed
