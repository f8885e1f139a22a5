// Threads for the work between the network and the models: reading requests, tokens, templates, and
// writing results. The threads of the network never wait for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace heed::serve {

class TaskPool {
 public:
  /// At most `most` tasks of try_post() wait.
  TaskPool(int threads, std::size_t most);
  /// Runs what waits, then ends.
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// Runs a task, which must not throw, on one of the threads; false if too many wait.
  bool try_post(std::function<void()> task);
  /// The same for a task that must not be refused, such as the end of a request; it runs before
  /// tasks of try_post() that wait.
  void post(std::function<void()> task);
  std::size_t waiting() const;
  /// Waits until no task waits or runs.
  void wait_idle();

 private:
  void run();

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_, urgent_;
  int running_ = 0;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heed::serve
