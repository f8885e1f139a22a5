// A mutex that a fork waits for. A forked child has only the thread that called fork(): a plain
// mutex that another thread held at that moment would stay locked in the child forever.
#pragma once

#include <mutex>

namespace heed {

/// A mutex for short critical sections that call no other heed code. It is never destroyed: make it
/// with new, and keep it until the process ends.
class ForkMutex {
 public:
  ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend class ForkMutexes;

  std::mutex mutex_;
  ForkMutex* next_ = nullptr;  // in the list of all
};

/// Installs the fork handlers of all ForkMutexes. Handlers run before a fork in the reverse order
/// of their installation. A lock that is held while a ForkMutex is taken must be taken first at a
/// fork too, so its owner calls this before it installs its own handlers.
void install_fork_handlers();

}  // namespace heed
