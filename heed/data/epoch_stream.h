// An endless stream of batches: epoch after epoch, each with its own plan. A thread makes batches
// ahead of time. The batches depend only on the plans, so a stream that seeks to a position
// continues exactly like one that has read up to it.
//
// An epoch whose plan would be too large is divided into windows, each with its own plan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/batch_parts.h"
#include "heed/data/batching.h"
#include "heed/data/prefetch.h"

namespace heed {

/// A position in a stream: the number of completed epochs, of windows completed in the next, and of
/// batches read from the window after them.
struct StreamPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;   ///< 0 at the start and after the end of a window.
  std::int64_t window = 0;  ///< 0 if an epoch is one window.
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
    std::function<B(std::span<const std::int32_t> rows, std::int64_t epoch)> make;
  };

  /// The plan of a window, and how its batches are made from their rows.
  struct Window {
    BatchPlan plan;
    std::function<B(std::span<const std::int32_t> rows)> make;
  };
  /// The same for epochs of several windows. A window is released when its batches were made.
  struct Windows {
    std::int64_t count = 1;  ///< Of an epoch.
    std::function<Window(std::int64_t epoch, std::int64_t window)> open;
  };

  /// Starts at the first batch of the first epoch; `ahead` batches are kept ready.
  explicit EpochStream(Maker maker, std::size_t ahead = 4)
      : EpochStream(Windows{.count = 1,
                            .open =
                                [maker = std::move(maker)](std::int64_t epoch, std::int64_t) {
                                  return Window{maker.plan(epoch),
                                                [make = maker.make,
                                                 epoch](std::span<const std::int32_t> rows) {
                                                  return make(rows, epoch);
                                                }};
                                }},
                    ahead) {}
  EpochStream(Windows windows, std::size_t ahead) : windows_(std::move(windows)), ahead_(ahead) {
    HEED_CHECK(ahead > 0, "[batches] ahead is 0: it must be at least 1");
    seek({});
  }

  /// Returns the next batch and waits for it if needed; rethrows exceptions from making it.
  B next() {
    std::optional<B> batch = next_part();
    HEED_ASSERT(batch);
    return std::move(*batch);
  }
  /// The same if the stream returns parts of batches; none if the part has no rows.
  std::optional<B> next_part() {
    Item item = prefetch_->take();
    position_ = item.after;
    window_batches_ = item.window_batches;
    return std::move(item.batch);
  }
  /// From the current position on, returns these parts of batches.
  void take_parts(const BatchParts& parts) {
    parts_ = parts;
    seek(StreamPosition(position_));
  }
  /// The position after the last batch that next() returned. Parts of a group of batches count when
  /// all of them were returned.
  const StreamPosition& position() const { return position_; }
  /// The number of batches in the epoch of the last batch, or in its window; before the first
  /// batch, in that of the current position.
  std::int64_t epoch_batches() const { return window_batches_; }
  /// The completed share of the current epoch, from 0 to 1.
  double epoch_share() const {
    const double share = static_cast<double>(position_.batch) /
                         static_cast<double>(std::max<std::int64_t>(1, window_batches_));
    return (static_cast<double>(position_.window) + share) / static_cast<double>(windows_.count);
  }

  /// Continues at a position that position() returned, for a stream of the same data and options.
  void seek(const StreamPosition& position) {
    HEED_CHECK(position.epoch >= 0 && position.batch >= 0,
               "[batches] there is no batch {} of epoch {}", position.batch, position.epoch);
    HEED_CHECK(position.window >= 0 && position.window < windows_.count,
               "[batches] position in window {} of epoch {}, which has {}: the position belongs to "
               "other data or another size of windows",
               position.window, position.epoch, windows_.count);
    Window window = windows_.open(position.epoch, position.window);
    HEED_CHECK(window.plan.size() > 0,
               "[batches] there is nothing to read: everything was filtered out");
    HEED_CHECK(position.batch < window.plan.size(),
               "[batches] position {} of epoch {}, which has {} batches: the position belongs to "
               "other data or another batch size",
               position.batch, position.epoch, window.plan.size());
    prefetch_.reset();  // ends the old thread
    position_ = position;
    window_batches_ = window.plan.size();
    Walk walk{.windows = windows_, .at = position, .walk = PartWalk(parts_)};
    walk.keep(position, std::move(window));
    prefetch_.emplace(std::move(walk), ahead_);
  }

 private:
  struct Item {
    std::optional<B> batch;
    StreamPosition after;
    std::int64_t window_batches;
  };

  // Makes one part of a batch per call, in the thread.
  struct Walk {
    struct Opened {
      StreamPosition first;  // its first batch
      std::shared_ptr<const Window> window;
    };

    Windows windows;
    StreamPosition at;  // the first batch of the group
    PartWalk walk;
    std::vector<Opened> opened = {};  // the last two: a group may begin in one of them

    static StreamPosition first_of(const StreamPosition& place) {
      return {.epoch = place.epoch, .batch = 0, .window = place.window};
    }

    const Window& keep(const StreamPosition& place, Window window) {
      if (opened.size() == 2) opened.erase(opened.begin());
      opened.push_back({first_of(place), std::make_shared<const Window>(std::move(window))});
      return *opened.back().window;
    }

    const Window& window_of(const StreamPosition& place) {
      for (const Opened& one : opened) {
        if (one.first == first_of(place)) return *one.window;
      }
      return keep(place, windows.open(place.epoch, place.window));
    }

    StreamPosition after(StreamPosition place, std::int64_t batches) {
      for (; batches > 0; --batches) {
        if (++place.batch < window_of(place).plan.size()) continue;
        place = place.window + 1 == windows.count
                    ? StreamPosition{.epoch = place.epoch + 1, .batch = 0, .window = 0}
                    : StreamPosition{.epoch = place.epoch, .batch = 0, .window = place.window + 1};
      }
      return place;
    }

    Item operator()() {
      const StreamPosition place = after(at, walk.batch());
      const Window& window = window_of(place);
      const std::span<const std::int32_t> all = window.plan.rows(place.batch);
      const RowRange rows = walk.parts().rows(walk.part(), std::ssize(all));
      Item item{.batch = {}, .after = at, .window_batches = window.plan.size()};
      if (rows.size() > 0) {
        item.batch = window.make(all.subspan(static_cast<std::size_t>(rows.begin),
                                             static_cast<std::size_t>(rows.size())));
      }
      if (walk.advance()) {
        item.after = at = after(at, walk.parts().batches);
        std::erase_if(opened, [&](const Opened& one) {
          return std::pair(one.first.epoch, one.first.window) < std::pair(at.epoch, at.window);
        });
      }
      return item;
    }
  };

  Windows windows_;
  std::size_t ahead_;
  BatchParts parts_;
  StreamPosition position_;
  std::int64_t window_batches_ = 0;
  std::optional<Prefetch<Item>> prefetch_;
};

}  // namespace heed
