// The thread pool and the one way to use it: a loop over a grid of independent cells. The caller
// derives the grid from shapes alone, never from the thread count; threads only take cells of it.
// So a cell does the same arithmetic on any thread, and results have the same bits for any number
// of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace heed {

/// A non-owning reference to a callable: two pointers, no allocation. It must not outlive the
/// callable.
template <typename Signature>
class FunctionRef;
template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<R, F&, Args...>)
      FunctionRef(F&& f)  // NOLINT(google-explicit-constructor): meant to bind lambdas at the call
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(static_cast<Args>(args)...);
        }) {}
  R operator()(Args... args) const { return call_(object_, static_cast<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

/// Runs cell(i) for each i in [0, cells), on the pool's threads and the caller's own, and returns
/// when all are done. `cell_cost` is a rough count of arithmetic operations (or bytes moved) in one
/// cell: a loop that is too small to be worth waking a thread runs on the caller's thread. Calls
/// from inside a cell, and calls while another thread uses the pool, run serially. The first
/// exception (by cell number) thrown by a cell is rethrown to the caller; later cells may then not
/// have run. A loop of some size also ends if an InterruptScope of the caller throws (interrupt.h).
void parallel_for(std::int64_t cells, std::int64_t cell_cost, FunctionRef<void(std::int64_t)> cell);

/// The greatest number of threads.
inline constexpr int kMaxThreads = 1024;

/// The number of threads that parallel_for uses, including the caller's. Default: HEED_THREADS,
/// else the CPUs this process may run on.
int num_threads();

/// Sets the number of threads, from 1 to kMaxThreads, at any time and from any thread; takes effect
/// at the next parallel_for. Does not change the bits of any result.
void set_num_threads(int n);

}  // namespace heed
