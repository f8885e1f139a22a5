// Requests that wait to be computed, in order, and the memory that those in progress have reserved.
// All functions may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "heed/generation/request.h"

namespace heed {

/// A request that was accepted.
struct QueuedRequest {
  std::int64_t number = 0;
  Request request = {};
  std::int64_t bytes = 0;                  ///< Of caches, at most.
  std::atomic<bool> is_cancelled = false;  ///< Who computes it drops it before the next step.
  std::int64_t told = 0;                   ///< Tokens that on_token has seen.
  std::vector<LayerWeights> encoder = {};  ///< The encoder's weights, if they are observed.

  std::int64_t length() const { return std::ssize(request.source); }
};
using QueuedPtr = std::shared_ptr<QueuedRequest>;

struct QueueLimits {
  std::int64_t requests = 1 << 20;  ///< That may wait.
  std::int64_t bytes = 0;           ///< Of the caches of all requests in progress.
};

class RequestQueue {
 public:
  explicit RequestQueue(const QueueLimits& limits) : limits_(limits) {}

  /// Throws heed::Error if so many bytes are never free.
  void check(std::int64_t bytes) const;
  /// Adds a request that needs so many bytes, and returns its number. Throws QueueFull, and what
  /// check() throws.
  std::int64_t add(Request request, std::int64_t bytes);

  /// The next requests: at most `most`, of sources whose number times the longest is at most
  /// `tokens` (one is taken whatever its length), and as many as there is memory for.
  std::vector<QueuedPtr> take(std::int64_t most, std::int64_t tokens);

  /// Whether take() would return a request.
  bool has_next() const;

  /// Ends a request that was taken.
  void finish(QueuedRequest& job, NBest found, std::exception_ptr error);
  /// Ends a request as soon as possible; its on_done gets the error Cancelled. Nothing happens if
  /// it has ended already.
  void cancel(std::int64_t number);
  void cancel_all();

  /// The number of requests that wait, and of those that have not ended.
  std::int64_t waiting() const;
  std::int64_t unfinished() const;
  /// The memory that is reserved.
  std::int64_t reserved() const;

  /// Waits until a request waits, or until wake().
  void wait_for_work();
  void wake();

 private:
  using Place = std::pair<int, std::int64_t>;  // the priority, negated, and the number

  const QueueLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Place, QueuedPtr> waiting_;
  std::map<std::int64_t, QueuedPtr> taken_;
  std::int64_t next_ = 0, reserved_ = 0;
  bool is_woken_ = false;
};

}  // namespace heed
