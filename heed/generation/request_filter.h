// Requests in a stream: they are added one by one, and results come out in the same order. In
// between, requests wait in a window; when it is full, or on flush(), they are sorted by length,
// the longest first, and a scheduler computes them. A large window is refilled when half of it is
// done, so that batches stay full.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "heed/generation/ordering.h"
#include "heed/generation/scheduler.h"

namespace heed {

class RequestFilter {
 public:
  /// Receives the results of request `number`; called with 0, 1, 2, …, by one thread at a time.
  using Emit = std::function<void(std::int64_t number, NBest found)>;

  /// `ordering` has the window and the sizes of batches; on_step as in Scheduler::run. The model
  /// must outlive the filter.
  RequestFilter(const SequenceModel& model, const SchedulerOptions& options,
                const OrderingOptions& ordering, Emit emit, OnStep on_step = {});

  /// Adds the next request. Errors of requests and of `emit` pass through; the filter must not be
  /// used after one.
  void add(Request request);
  /// In place of the next request: its results are known.
  void add_known(NBest found);
  /// Computes all waiting requests.
  void flush();

  /// The number that the next request gets.
  std::int64_t next() const { return added_; }
  /// How full the steps were.
  StepStatistics statistics() const { return scheduler_.statistics(); }

 private:
  struct Waiting {
    std::int64_t number;
    Request request;
  };
  void submit_waiting();
  void compute(std::int64_t left);
  void answer(std::int64_t number, NBest found);

  const OrderingOptions ordering_;
  const Emit emit_;
  const OnStep on_step_;
  std::int64_t added_ = 0;
  std::vector<Waiting> waiting_;

  std::mutex mutex_;                    // of what follows, which threads that compute change
  std::map<std::int64_t, NBest> done_;  // that wait for earlier ones
  std::int64_t emitted_ = 0;
  std::exception_ptr error_;

  Scheduler scheduler_;  // last: it ends first
};

}  // namespace heed
