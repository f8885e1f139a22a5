#include "heed/kernels/rounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/arena.h"
#include "heed/base/threads.h"

namespace heed::kernels {
namespace {

constexpr std::int64_t kRowsOfCell = 64;

// Calls f(n) for all rows, some of them in each cell.
template <typename F>
void for_each_row(const RoundsShape& shape, const F& f) {
  const std::int64_t cells = (shape.rows + kRowsOfCell - 1) / kRowsOfCell;
  parallel_for(cells, kRowsOfCell * shape.rounds * (shape.features + 8), [&](std::int64_t cell) {
    const std::int64_t end = std::min(shape.rows, (cell + 1) * kRowsOfCell);
    for (std::int64_t n = cell * kRowsOfCell; n < end; ++n) f(n);
  });
}

// The share of each round in row n.
template <typename T>
void find_shares(const RoundsShape& shape, const T* log_sums, const std::int64_t* places,
                 std::int64_t n, T* shares) {
  T most = -std::numeric_limits<T>::infinity(), sum = 0;
  const auto log_sum = [&](std::int64_t r) { return log_sums[places[r * shape.rows + n]]; };
  for (std::int64_t r = 0; r < shape.rounds; ++r) most = std::max(most, log_sum(r));
  for (std::int64_t r = 0; r < shape.rounds; ++r) {
    shares[r] = std::isinf(most) ? T{0} : std::exp(log_sum(r) - most);
    sum += shares[r];
  }
  for (std::int64_t r = 0; r < shape.rounds; ++r) shares[r] = sum > 0 ? shares[r] / sum : T{0};
}

}  // namespace

template <typename T>
void add_rounds(const RoundsShape& shape, const T* x, const std::int64_t* places, T* y) {
  const std::int64_t D = shape.features;
  for_each_row(shape, [&](std::int64_t n) {
    T* const to = y + n * D;
    for (std::int64_t r = 0; r < shape.rounds; ++r) {
      const T* const from = x + places[r * shape.rows + n] * D;
      for (std::int64_t d = 0; d < D; ++d) to[d] += from[d];
    }
  });
}

template <typename T>
void join_rounds(const RoundsShape& shape, const T* x, const T* log_sums,
                 const std::int64_t* places, T* y) {
  const std::int64_t D = shape.features;
  const Scratch<T> all_shares(shape.rows * shape.rounds);
  for_each_row(shape, [&](std::int64_t n) {
    T* const shares = all_shares.data() + n * shape.rounds;
    find_shares(shape, log_sums, places, n, shares);
    T* const to = y + n * D;
    std::fill_n(to, D, T{0});
    for (std::int64_t r = 0; r < shape.rounds; ++r) {
      const T* const from = x + places[r * shape.rows + n] * D;
      for (std::int64_t d = 0; d < D; ++d) to[d] += shares[r] * from[d];
    }
  });
}

// With y = sum_r p_r x_r: dx_r = p_r dy, and dl_r = p_r (dy . x_r - sum_s p_s dy . x_s).
template <typename T>
void join_rounds_backward(const RoundsShape& shape, const T* x, const T* log_sums,
                          const std::int64_t* places, const T* dy, T* dx, T* d_log_sums) {
  const std::int64_t D = shape.features;
  const Scratch<T> all_shares(shape.rows * shape.rounds);
  for_each_row(shape, [&](std::int64_t n) {
    T* const shares = all_shares.data() + n * shape.rounds;
    find_shares(shape, log_sums, places, n, shares);
    T mean = 0;
    for (std::int64_t r = 0; r < shape.rounds; ++r) {
      const std::int64_t place = places[r * shape.rows + n];
      T product = 0;
      for (std::int64_t d = 0; d < D; ++d) {
        product += dy[n * D + d] * x[place * D + d];
        dx[place * D + d] = shares[r] * dy[n * D + d];
      }
      d_log_sums[place] = product;
      mean += shares[r] * product;
    }
    for (std::int64_t r = 0; r < shape.rounds; ++r) {
      T& d = d_log_sums[places[r * shape.rows + n]];
      d = shares[r] * (d - mean);
    }
  });
}

#define HEED_ROUNDS(T)                                                                            \
  template void add_rounds(const RoundsShape&, const T*, const std::int64_t*, T*);                \
  template void join_rounds(const RoundsShape&, const T*, const T*, const std::int64_t*, T*);     \
  template void join_rounds_backward(const RoundsShape&, const T*, const T*, const std::int64_t*, \
                                     const T*, T*, T*);
HEED_ROUNDS(float)
HEED_ROUNDS(double)
#undef HEED_ROUNDS

}  // namespace heed::kernels
