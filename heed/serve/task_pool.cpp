#include "heed/serve/task_pool.h"

#include <utility>

namespace heed::serve {

TaskPool::TaskPool(int threads, std::size_t most) : most_(most) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

TaskPool::~TaskPool() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool TaskPool::try_post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (tasks_.size() >= most_) return false;
  tasks_.push_back(std::move(task));
  changed_.notify_all();
  return true;
}

void TaskPool::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  urgent_.push_back(std::move(task));
  changed_.notify_all();
}

std::size_t TaskPool::waiting() const {
  const std::lock_guard lock(mutex_);
  return tasks_.size() + urgent_.size();
}

void TaskPool::wait_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return running_ == 0 && tasks_.empty() && urgent_.empty(); });
}

void TaskPool::run() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_ending_ || !tasks_.empty() || !urgent_.empty(); });
      std::deque<std::function<void()>>& from = urgent_.empty() ? tasks_ : urgent_;
      if (from.empty()) return;
      task = std::move(from.front());
      from.pop_front();
      ++running_;
    }
    task();
    task = {};  // what it holds is released before it counts as done
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) changed_.notify_all();
  }
}

}  // namespace heed::serve
