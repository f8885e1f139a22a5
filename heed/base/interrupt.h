// Stopping long work: whoever starts it gives a function that throws if the work should end
// (Ctrl-C, a signal, a request of the caller). Loops of parallel_for and reads of files call it
// often, so a pass over a large batch, a validation and the reading of a corpus all end within a
// fraction of a second. The exception unwinds like any other.
//
//   const InterruptScope scope([] { if (stop) throw Interrupted(); });
//   validate();
#pragma once

#include <chrono>
#include <exception>
#include <functional>

namespace heed {

/// What the function of a scope may throw. It is not a heed::Error: nothing is wrong.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// While it lives, check_interrupt() in this thread calls a function, at most a hundred times a
/// second. A scope inside another one replaces it for its lifetime. Work that must not end halfway,
/// such as an update of parameters, stays outside of scopes.
class InterruptScope {
 public:
  explicit InterruptScope(std::function<void()> check);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  friend void check_interrupt();

  std::function<void()> check_;
  std::chrono::steady_clock::time_point next_ = {};  // the next call is not before this
  InterruptScope* before_;
};

/// Calls the function of the innermost scope of this thread, if there is one.
void check_interrupt();

}  // namespace heed
