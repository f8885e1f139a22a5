// An endless stream of batches: epoch after epoch, each with its own plan. A thread makes batches
// ahead of time. The batches depend only on the plans, so a stream that seeks to a position
// continues exactly like one that has read up to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "heed/base/error.h"
#include "heed/data/batching.h"
#include "heed/data/prefetch.h"

namespace heed {

/// A position in a stream: the number of completed epochs, and of batches read from the next.
struct StreamPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;  ///< 0 at the start and after the end of an epoch.
  friend bool operator==(const StreamPosition&, const StreamPosition&) = default;
};

/// A stream of batches of type B.
template <typename B>
class EpochStream {
 public:
  /// Plans epochs and makes batches. The thread calls both; they must depend only on their
  /// arguments and on data that never changes.
  struct Maker {
    std::function<BatchPlan(std::int64_t epoch)> plan;
    std::function<B(std::span<const std::int32_t> rows)> make;
  };

  /// Starts at the first batch of the first epoch; `ahead` batches are kept ready.
  explicit EpochStream(Maker maker, std::size_t ahead = 4)
      : maker_(std::move(maker)), ahead_(ahead) {
    HEED_CHECK(ahead > 0, "[batches] ahead is 0: it must be at least 1");
    seek({});
  }

  /// Returns the next batch and waits for it if needed; rethrows exceptions from making it.
  B next() {
    Item item = prefetch_->take();
    position_ = item.after;
    epoch_batches_ = item.epoch_batches;
    return std::move(item.batch);
  }
  /// The position after the last batch that next() returned.
  const StreamPosition& position() const { return position_; }
  /// The number of batches in the epoch of the last batch; before the first batch, in the epoch of
  /// the current position.
  std::int64_t epoch_batches() const { return epoch_batches_; }

  /// Continues at a position that position() returned, for a stream of the same data and options.
  void seek(const StreamPosition& position) {
    HEED_CHECK(position.epoch >= 0 && position.batch >= 0,
               "[batches] there is no batch {} of epoch {}", position.batch, position.epoch);
    BatchPlan plan = maker_.plan(position.epoch);
    HEED_CHECK(plan.size() > 0, "[batches] there is nothing to read: everything was filtered out");
    HEED_CHECK(position.batch < plan.size(),
               "[batches] position {} of epoch {}, which has {} batches: the position belongs to "
               "other data or another batch size",
               position.batch, position.epoch, plan.size());
    prefetch_.reset();  // ends the old thread
    position_ = position;
    epoch_batches_ = plan.size();
    prefetch_.emplace(Walk{maker_, position, std::move(plan), position.epoch}, ahead_);
  }

 private:
  struct Item {
    B batch;
    StreamPosition after;
    std::int64_t epoch_batches;
  };

  // Makes one batch per call, in the thread.
  struct Walk {
    Maker maker;
    StreamPosition at;
    BatchPlan plan;
    std::int64_t planned;  // the epoch of `plan`

    Item operator()() {
      if (planned != at.epoch) {
        plan = maker.plan(at.epoch);
        planned = at.epoch;
      }
      B batch = maker.make(plan.rows(at.batch));
      at = at.batch + 1 == plan.size() ? StreamPosition{at.epoch + 1, 0}
                                       : StreamPosition{at.epoch, at.batch + 1};
      return {std::move(batch), at, plan.size()};
    }
  };

  Maker maker_;
  std::size_t ahead_;
  StreamPosition position_;
  std::int64_t epoch_batches_ = 0;
  std::optional<Prefetch<Item>> prefetch_;
};

}  // namespace heed
