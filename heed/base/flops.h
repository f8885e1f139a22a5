// Counting floating-point operations: while a FlopCounter is alive, kernels that compute products
// report their operations. A multiplication and an addition are two operations; functions such as
// exp and element-wise work are not counted, as is usual.
//
//   const FlopCounter counter;
//   matmul(a, b);
//   counter.count();  // 2 m n k
#pragma once

#include <cstdint>

namespace heed {

/// Counts the operations of calls made on this thread during its lifetime, whichever threads do the
/// work. A nested counter also adds to the outer one.
class FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;

  std::int64_t count() const { return count_; }

 private:
  friend void add_flops(std::int64_t n);

  std::int64_t count_ = 0;
  FlopCounter* outer_;
};

namespace detail {
inline constinit thread_local FlopCounter* flop_counter = nullptr;
}

/// True if a counter is alive; lets callers skip computing the number.
inline bool counting_flops() { return detail::flop_counter != nullptr; }

/// Adds n operations; costs one load if no counter is alive. Do not call it inside parallel_for.
inline void add_flops(std::int64_t n) {
  if (counting_flops()) detail::flop_counter->count_ += n;
}

}  // namespace heed
