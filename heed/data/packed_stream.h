// An endless stream of training batches from a packed corpus, which stays on disk. Each epoch puts
// the blocks of the corpus into a random order and cuts it into windows. The pairs of a window are
// shuffled, sorted by length and cut into batches as plan_epoch() does it for a whole corpus. Only
// the lengths of a window are in memory; tokens are read when a batch is made.
//
// The rows of a batch are in the order of their places in the window. A rank that makes a part of
// each batch therefore reads mostly its own part of the window's blocks.
#pragma once

#include <cstdint>
#include <memory>

#include "heed/data/batch.h"
#include "heed/data/batching.h"
#include "heed/data/epoch_stream.h"
#include "heed/data/packed_pairs.h"

namespace heed {

/// The default number of pairs of a window.
inline constexpr std::int64_t kShuffleWindow = std::int64_t{1} << 19;

struct PackedStreamOptions {
  BatchingOptions batching = {};
  std::int64_t window = kShuffleWindow;  ///< Pairs that are shuffled together, about.
};

/// The pairs of a window: its blocks in their random order, and the lengths of their pairs.
struct PackedWindow {
  std::vector<std::int64_t> blocks;
  std::vector<std::int64_t> starts;  ///< The number of the first pair of each block, and of all.
  std::vector<PairLength> lengths;   ///< In a batch: with the end of the source, and of the target.
  std::vector<std::int64_t> tokens;  ///< The number of the first token of each pair in its block.
};

/// The number of windows of an epoch.
std::int64_t packed_windows(const PackedPairs& corpus, std::int64_t window_pairs);

/// The pairs of a window of an epoch; depends only on the arguments.
PackedWindow open_window(const PackedPairs& corpus, const PackedStreamOptions& options,
                         std::int64_t epoch, std::int64_t window);

/// The batches of a window of an epoch.
BatchPlan plan_window(const PackedWindow& pairs, const BatchingOptions& options, std::int64_t epoch,
                      std::int64_t window);

/// Batches of a packed corpus, epoch after epoch.
class PackedStream : public EpochStream<Batch> {
 public:
  PackedStream(std::shared_ptr<const PackedPairs> corpus, const PackedStreamOptions& options,
               std::size_t ahead = 4);
};

}  // namespace heed
