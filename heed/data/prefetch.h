// Prepares results ahead of time: a thread calls `make` repeatedly and keeps a few results ready.
// They are returned in the order in which they were made. An exception of `make` is thrown in place
// of its result.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "heed/base/error.h"

namespace heed {

/// A queue that a thread fills.
template <typename T>
class Prefetch {
 public:
  /// Starts the thread, which keeps up to `capacity` results ready.
  Prefetch(std::function<T()> make, std::size_t capacity)
      : make_(std::move(make)), capacity_(capacity) {
    HEED_ASSERT(capacity > 0);
    thread_ = std::thread([this] { run(); });  // last: it reads the other members
  }
  /// Waits for the current call of `make` and drops the results.
  ~Prefetch() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    room_.notify_one();
    thread_.join();
  }
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// Returns the next result and waits for it if needed. Rethrows an exception of `make`, also in
  /// all later calls.
  T take() {
    std::unique_lock lock(mutex_);
    some_.wait(lock, [&] { return !ready_.empty() || failure_; });
    if (ready_.empty()) std::rethrow_exception(failure_);
    T result = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    room_.notify_one();
    return result;
  }

 private:
  void run() {
    try {
      while (true) {
        {
          std::unique_lock lock(mutex_);
          room_.wait(lock, [&] { return stopping_ || ready_.size() < capacity_; });
          if (stopping_) return;
        }
        T made = make_();
        {
          const std::lock_guard lock(mutex_);
          ready_.push_back(std::move(made));
        }
        some_.notify_one();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      some_.notify_one();
    }
  }

  std::function<T()> make_;
  std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable room_, some_;
  std::deque<T> ready_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace heed
