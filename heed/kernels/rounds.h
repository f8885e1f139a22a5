// Rows that occur in several sorted orders, as in LSH attention: each of N rows has one place in
// every round. Plain loops that the compiler vectorises, for float and double, so there is no SIMD
// version and no twin.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// N rows of D features, each at rounds * N places.
struct RoundsShape {
  std::int64_t rounds = 1;
  std::int64_t rows = 0;
  std::int64_t features = 0;
};

/// y[n] += sum over r of x[places[r, n]], in the order of r. x is [rounds * rows, features].
template <typename T>
void add_rounds(const RoundsShape& shape, const T* x, const std::int64_t* places, T* y);

/// y[n] = sum over r of share_r x[places[r, n]], where the shares are the softmax over rounds of
/// log_sums[places[r, n]]. A row whose log-sums are all -inf is 0.
template <typename T>
void join_rounds(const RoundsShape& shape, const T* x, const T* log_sums,
                 const std::int64_t* places, T* y);

/// The gradients of join_rounds. Every place occurs once, so dx and d_log_sums are overwritten.
template <typename T>
void join_rounds_backward(const RoundsShape& shape, const T* x, const T* log_sums,
                          const std::int64_t* places, const T* dy, T* dx, T* d_log_sums);

}  // namespace heed::kernels
