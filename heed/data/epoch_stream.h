// Batches without end: epoch after epoch, each by its own plan, made ahead in a thread. What comes
// out depends on the plans alone, so a stream sent to a position goes on exactly as one that got
// there by itself.
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

/// Where a stream stands: behind so many whole epochs and so many batches of the next.
struct StreamPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;  ///< 0: an epoch has just ended, or nothing was read yet.
  friend bool operator==(const StreamPosition&, const StreamPosition&) = default;
};

template <typename B>
class EpochStream {
 public:
  /// How epochs are planned and batches made. Both are called in the thread, and must depend on
  /// their arguments and on what never changes alone.
  struct Maker {
    std::function<BatchPlan(std::int64_t epoch)> plan;
    std::function<B(std::span<const std::int32_t> rows)> make;
  };

  /// Starts at the first batch of the first epoch; `ahead` batches are kept ready.
  explicit EpochStream(Maker maker, std::size_t ahead = 4)
      : maker_(std::move(maker)), ahead_(ahead) {
    HEED_CHECK(ahead > 0, "[batches] 0 batches ahead: at least one must be made at a time");
    seek({});
  }

  /// The next batch, waited for if need be; rethrows what its making threw.
  B next() {
    Item item = prefetch_->take();
    position_ = item.behind;
    epoch_batches_ = item.epoch_batches;
    return std::move(item.batch);
  }
  /// The position behind the batch that next() gave last, however many are ready.
  const StreamPosition& position() const { return position_; }
  /// The number of batches in the epoch that the last batch belongs to; before it, in the first.
  std::int64_t epoch_batches() const { return epoch_batches_; }

  /// Goes to a position that position() gave, of a stream of the same data and options.
  void seek(const StreamPosition& position) {
    HEED_CHECK(position.epoch >= 0 && position.batch >= 0,
               "[batches] there is no batch {} of epoch {}", position.batch, position.epoch);
    BatchPlan plan = maker_.plan(position.epoch);
    HEED_CHECK(plan.size() > 0, "[batches] there is nothing to read: all was left out");
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
    StreamPosition behind;
    std::int64_t epoch_batches;
  };

  // What the thread does: one step through the epochs per call.
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
