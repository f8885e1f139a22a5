// Requests that are computed in the background, and their results in the order of submission: for
// programs that go on while results are computed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>

#include "heed/generation/scheduler.h"

namespace heed {

class RequestStream {
 public:
  /// The model must outlive it. Its threads end with it; what is not done is cancelled.
  explicit RequestStream(const SequenceModel& model, const SchedulerOptions& options = {});

  /// Adds a request, whose on_done is set here. Throws as Scheduler::submit.
  void submit(Request request);
  /// In place of a request: its results are known.
  void submit_known(NBest found);
  /// The number of requests whose results were not taken.
  std::int64_t pending() const;
  /// Waits for the results of the oldest request that is pending, and takes them; throws the error
  /// that ended it. `check` is called about twenty times a second and may throw.
  NBest next(const std::function<void()>& check = {});

 private:
  struct Result {
    NBest found;
    std::exception_ptr error;
  };
  void add(std::int64_t number, Result result);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, Result> done_;
  std::int64_t submitted_ = 0, taken_ = 0;
  Scheduler scheduler_;  // last: it ends first
};

}  // namespace heed
