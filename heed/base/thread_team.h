// A part of the threads, for work that is divided already: while a Scope lives, loops of its thread
// (parallel_for, threads.h) run on the team's threads, even inside a cell of another loop. Teams
// compute at the same time.
#pragma once

#include <memory>

namespace heed {

class ThreadTeam {
 public:
  /// `threads` includes that of the caller.
  explicit ThreadTeam(int threads);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }

  class Scope {
   public:
    /// The team must outlive the scope and serves one scope at a time.
    explicit Scope(ThreadTeam& team);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    void* before_;  // the team of the scope around it
    bool was_inside_loop_;
  };

 private:
  int size_;
  std::shared_ptr<void> threads_;
};

}  // namespace heed
