// Counting floating-point operations: kernels that multiply and add many numbers say how many while
// somebody counts. A multiplication and an addition are two operations; functions such as exp, and
// element-wise work beside the products, do not count, as is the custom.
//
//   const FlopCounter counter;
//   matmul(a, b);
//   counter.count();  // 2 m n k
#pragma once

#include <cstdint>

namespace heed {

/// Counts what is called on this thread while it lives, whatever threads then do the work. A
/// counter inside another counts for both.
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

/// Whether somebody counts; lets callers skip finding out how many.
inline bool counting_flops() { return detail::flop_counter != nullptr; }

/// Says that n operations are done; costs one load if nobody counts. Not from inside parallel_for.
inline void add_flops(std::int64_t n) {
  if (counting_flops()) detail::flop_counter->count_ += n;
}

}  // namespace heed
