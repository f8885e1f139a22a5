#include "heed/base/fork_mutex.h"

#include <pthread.h>

namespace heed {

// All mutexes, as a linked list.
class ForkMutexes {
 public:
  static ForkMutexes& get() {
    static ForkMutexes* const all = [] {
      auto* made = new ForkMutexes;
      pthread_atfork([] { get().lock(); }, [] { get().unlock(); }, [] { get().unlock(); });
      return made;
    }();
    return *all;
  }

  void add(ForkMutex& mutex) {
    const std::lock_guard lock(list_);
    mutex.next_ = first_;
    first_ = &mutex;
  }

 private:
  void lock() {
    list_.lock();
    for (ForkMutex* m = first_; m != nullptr; m = m->next_) m->lock();
  }
  void unlock() {
    for (ForkMutex* m = first_; m != nullptr; m = m->next_) m->unlock();
    list_.unlock();
  }

  std::mutex list_;
  ForkMutex* first_ = nullptr;
};

ForkMutex::ForkMutex() { ForkMutexes::get().add(*this); }

void install_fork_handlers() { ForkMutexes::get(); }

}  // namespace heed
