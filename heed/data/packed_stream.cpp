#include "heed/data/packed_stream.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/shuffle.h"

namespace heed {
namespace {

// Distinguishes the windows of all epochs in random numbers.
std::int64_t window_number(std::int64_t epoch, std::int64_t window) {
  constexpr std::int64_t kMostWindows = std::int64_t{1} << 32;
  return epoch * kMostWindows + window;
}

std::vector<std::int64_t> blocks_in_order(const PackedPairs& corpus, const BatchingOptions& options,
                                          std::int64_t epoch) {
  std::vector<std::int64_t> blocks(static_cast<std::size_t>(corpus.blocks()));
  std::iota(blocks.begin(), blocks.end(), 0);
  if (options.shuffle) {
    shuffle(blocks, data_stream(options.seed, DataPurpose::packed_blocks, epoch));
  }
  return blocks;
}

// Makes the batches of a window. Lives in the thread of the stream.
class WindowBatches {
 public:
  WindowBatches(std::shared_ptr<const PackedPairs> corpus, PackedWindow pairs)
      : corpus_(std::move(corpus)), pairs_(std::move(pairs)), checked_(pairs_.blocks.size()) {}
  ~WindowBatches() { corpus_->forget(); }
  WindowBatches(const WindowBatches&) = delete;
  WindowBatches& operator=(const WindowBatches&) = delete;

  Batch make(std::span<const std::int32_t> rows) {
    const PairSpecials specials{corpus_->source()->special(), corpus_->target()->special()};
    std::vector<std::int32_t> tokens;
    std::vector<std::size_t> ends;  // of sources and targets, in turn
    for (const std::int32_t row : rows) read(row, specials.source.end, tokens, ends);
    PairRows pairs;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto sentence = std::span<const std::int32_t>(tokens).subspan(begin, ends[i] - begin);
      (i % 2 == 0 ? pairs.sources : pairs.targets).push_back(sentence);
      begin = ends[i];
    }
    return make_batch(pairs, specials);
  }

 private:
  void read(std::int32_t row, std::int32_t end, std::vector<std::int32_t>& tokens,
            std::vector<std::size_t>& ends) {
    const auto after = std::ranges::upper_bound(pairs_.starts, row);
    const auto at = static_cast<std::size_t>(after - pairs_.starts.begin()) - 1;
    const std::int64_t block = pairs_.blocks[at];
    if (!checked_[at]) corpus_->check_tokens(block);
    checked_[at] = true;
    const auto pair = static_cast<std::size_t>(row);
    const std::int64_t first = pairs_.tokens[pair];
    const std::int64_t source = pairs_.lengths[pair].source - 1;
    corpus_->read_tokens(block, first, source, tokens);
    tokens.push_back(end);
    ends.push_back(tokens.size());
    corpus_->read_tokens(block, first + source, pairs_.lengths[pair].target - 1, tokens);
    ends.push_back(tokens.size());
  }

  std::shared_ptr<const PackedPairs> corpus_;
  PackedWindow pairs_;
  std::vector<bool> checked_;  // blocks whose tokens were checked
};

EpochStream<Batch>::Windows windows_of(std::shared_ptr<const PackedPairs> corpus,
                                       const PackedStreamOptions& options) {
  const std::int64_t count = packed_windows(*corpus, options.window);
  return {.count = count,
          .open = [corpus = std::move(corpus), options](
                      std::int64_t epoch, std::int64_t window) -> EpochStream<Batch>::Window {
            PackedWindow pairs = open_window(*corpus, options, epoch, window);
            BatchPlan plan = plan_window(pairs, options.batching, epoch, window);
            const auto batches = std::make_shared<WindowBatches>(corpus, std::move(pairs));
            return {std::move(plan),
                    [batches](std::span<const std::int32_t> rows) { return batches->make(rows); }};
          }};
}

}  // namespace

std::int64_t packed_windows(const PackedPairs& corpus, std::int64_t window_pairs) {
  HEED_CHECK(window_pairs >= 1, "[packed] a window of {} pairs: it must have at least 1",
             window_pairs);
  const std::int64_t wanted = (corpus.info().pairs + window_pairs / 2) / window_pairs;
  return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, corpus.blocks()));
}

PackedWindow open_window(const PackedPairs& corpus, const PackedStreamOptions& options,
                         std::int64_t epoch, std::int64_t window) {
  const std::int64_t windows = packed_windows(corpus, options.window);
  HEED_ASSERT(window >= 0 && window < windows);
  const std::vector<std::int64_t> order = blocks_in_order(corpus, options.batching, epoch);
  const auto begin = order.begin() + std::ssize(order) * window / windows;
  const auto end = order.begin() + std::ssize(order) * (window + 1) / windows;
  PackedWindow pairs{.blocks = {begin, end}, .starts = {0}, .lengths = {}, .tokens = {}};
  for (const std::int64_t block : pairs.blocks) {
    const std::size_t first = pairs.lengths.size();
    corpus.read_lengths(block, pairs.lengths);
    std::int64_t tokens = 0;
    for (std::size_t pair = first; pair < pairs.lengths.size(); ++pair) {
      PairLength& length = pairs.lengths[pair];
      pairs.tokens.push_back(tokens);
      tokens += length.source + length.target;
      ++length.source;
      ++length.target;
    }
    pairs.starts.push_back(std::ssize(pairs.lengths));
  }
  return pairs;
}

BatchPlan plan_window(const PackedWindow& pairs, const BatchingOptions& options, std::int64_t epoch,
                      std::int64_t window) {
  const BatchPlan plan = plan_epoch(pairs.lengths, options, window_number(epoch, window));
  BatchPlan sorted;
  std::vector<std::int32_t> rows;
  for (std::int64_t batch = 0; batch < plan.size(); ++batch) {
    rows.assign(plan.rows(batch).begin(), plan.rows(batch).end());
    std::ranges::sort(rows);
    sorted.add(rows);
  }
  return sorted;
}

PackedStream::PackedStream(std::shared_ptr<const PackedPairs> corpus,
                           const PackedStreamOptions& options, std::size_t ahead)
    : EpochStream(windows_of(std::move(corpus), options), ahead) {}

}  // namespace heed
