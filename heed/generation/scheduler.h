// Continuous batching: requests of different ages are computed together. When one is done, the next
// joins, so that batches stay full. Each request has its own search, stop rules and random numbers,
// and its result has the same bits as when it is computed alone.
//
//   Scheduler scheduler(model, {});
//   scheduler.submit({.source = tokens, .plan = plan, .on_done = …});   // from any thread
//   scheduler.run();                                                    // or start(), once
//
// A batch is a StepLoop. Several run side by side, the workers, each on a share of the threads: for
// small models this uses the cores better than dividing each product among them. If there is too
// little work for several, one batch uses all threads. A model whose sequences cannot join others
// (attention without pages) gets its requests in groups that begin together.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "heed/base/thread_team.h"
#include "heed/generation/request_queue.h"
#include "heed/generation/scheduler_options.h"
#include "heed/generation/step_loop.h"
#include "heed/generation/workers.h"

namespace heed {

class Scheduler {
 public:
  /// The model must outlive it.
  explicit Scheduler(const SequenceModel& model, const SchedulerOptions& options = {});
  /// Cancels what is not done.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Throws heed::Error if a request cannot be computed: a source or prompt that is longer than the
  /// model's positions, or more memory than allowed.
  void check(const Request& request) const;
  /// Accepts a request and returns its number. Throws QueueFull if too many wait, and what check()
  /// throws.
  std::int64_t submit(Request request);
  /// Ends a request before its next step; its on_done gets the error Cancelled.
  void cancel(std::int64_t number) { queue_.cancel(number); }

  /// Computes on the calling thread and the pool's until nothing is left, or until `until` returns
  /// true. `on_step` is called before each step of each batch and may end the call by throwing; the
  /// scheduler then only cancels. May be called again, but not from two threads at once.
  void run(const OnStep& on_step = {}, const std::function<bool()>& until = {});
  /// Computes on a thread of its own from now on, for servers: call it once, and not run().
  void start();
  /// Ends that thread and cancels what is not done. Nothing may be submitted then.
  void stop();

  /// The number of requests that have not ended, and of those among them that wait.
  std::int64_t unfinished() const { return queue_.unfinished(); }
  std::int64_t waiting() const { return queue_.waiting(); }
  /// How full the steps of all batches were, while nothing runs.
  StepStatistics statistics() const;

 private:
  std::int64_t bytes_of(const Request& request) const;
  std::int64_t most_loops() const;
  std::int64_t wanted_loops() const;
  std::vector<StepLoop*> choose_loops();
  void run_loop(StepLoop& loop, std::int64_t side_by_side, const OnStep& on_step,
                const std::function<bool()>& until);
  ThreadTeam& team_of(std::int64_t loop, std::int64_t side_by_side);
  void serve();

  const SequenceModel& model_;
  SchedulerOptions options_;
  RequestQueue queue_;
  std::deque<StepLoop> loops_;
  std::vector<std::unique_ptr<ThreadTeam>> teams_;  // of loops that run side by side
  std::atomic<std::int64_t> active_ = 0;            // loops that run now
  std::atomic<bool> is_stopped_ = false;
  std::thread thread_;
  std::int64_t process_ = 0;  // that the thread belongs to
};

/// Computes requests, those that take longest first, and returns their results in the order given.
/// Throws the first error of a request; on_step as in Scheduler::run.
std::vector<NBest> run_requests(const SequenceModel& model, const SchedulerOptions& options,
                                std::vector<Request> requests, const OnStep& on_step = {});

}  // namespace heed
