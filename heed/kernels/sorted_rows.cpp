#include "heed/kernels/sorted_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/arena.h"
#include "heed/base/threads.h"

namespace heed::kernels {
namespace {

constexpr std::int64_t kPlacesOfCell = 256;
constexpr std::int64_t kPositionsOfCell = 64;

// Calls f(b, t, h) for all rows of these heads, some positions in each cell.
template <typename F>
void for_each_position(const SortedShape& shape, const F& f) {
  const std::int64_t blocks = (shape.T + kPositionsOfCell - 1) / kPositionsOfCell;
  const std::int64_t cost = kPositionsOfCell * shape.heads * shape.rounds * (shape.D + 8);
  parallel_for(shape.B * blocks, cost, [&](std::int64_t cell) {
    const std::int64_t b = cell / blocks, first = cell % blocks * kPositionsOfCell;
    const std::int64_t last = std::min(shape.T, first + kPositionsOfCell);
    for (std::int64_t t = first; t < last; ++t) {
      for (std::int64_t h = 0; h < shape.heads; ++h) f(b, t, h);
    }
  });
}

// Where position t of a head is in a round, among all lines.
template <typename T>
std::int64_t place_of(const SortedShape& shape, const SortedRounds<T>& of, std::int64_t b,
                      std::int64_t round, std::int64_t head, std::int64_t t) {
  const std::int64_t line = shape.line(b, round, head) * shape.T;
  return line + of.place[line + t];
}

// x = softmax(x).
template <typename T>
void soften(T* x, std::int64_t count) {
  const T most = *std::max_element(x, x + count);
  T sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += x[i] = std::exp(x[i] - most);
  for (std::int64_t i = 0; i < count; ++i) x[i] /= sum;
}

}  // namespace

template <typename T>
void take_sorted(const SortedShape& shape, const T* x, const std::int64_t* order, const T* factors,
                 T* y) {
  const std::int64_t blocks = (shape.T + kPlacesOfCell - 1) / kPlacesOfCell;
  parallel_for(shape.lines() * blocks, kPlacesOfCell * (shape.D + 4), [&](std::int64_t cell) {
    const std::int64_t line = cell / blocks, first = cell % blocks * kPlacesOfCell;
    const std::int64_t last = std::min(shape.T, first + kPlacesOfCell);
    const T* const head = x + shape.row(line / (shape.rounds * shape.heads), 0, line % shape.heads);
    const std::int64_t step = shape.H * shape.D;
    for (std::int64_t s = line * shape.T + first; s < line * shape.T + last; ++s) {
      const T* const from = head + order[s] * step;
      T* const to = y + s * shape.D;
      if (factors == nullptr) {
        std::copy_n(from, shape.D, to);
      } else {
        for (std::int64_t d = 0; d < shape.D; ++d) to[d] = factors[s] * from[d];
      }
    }
  });
}

template <typename T>
void add_sorted(const SortedShape& shape, const T* x, const std::int64_t* place, T* y) {
  for_each_position(shape, [&](std::int64_t b, std::int64_t t, std::int64_t h) {
    T* const to = y + shape.row(b, t, h);
    std::fill_n(to, shape.D, T{0});
    for (std::int64_t r = 0; r < shape.rounds; ++r) {
      const std::int64_t line = shape.line(b, r, h) * shape.T;
      const T* const from = x + (line + place[line + t]) * shape.D;
      for (std::int64_t d = 0; d < shape.D; ++d) to[d] += from[d];
    }
  });
}

template <typename T>
void join_sorted(const SortedShape& shape, const SortedRounds<T>& of, T* y) {
  constexpr T kNone = -std::numeric_limits<T>::infinity();
  const Scratch<T> all_shares(shape.B * shape.T * shape.heads * shape.rounds);
  for_each_position(shape, [&](std::int64_t b, std::int64_t t, std::int64_t h) {
    T* const own = all_shares.data() + ((b * shape.T + t) * shape.heads + h) * shape.rounds;
    T* const to = y + shape.row(b, t, h);
    const auto place = [&](std::int64_t r) { return place_of(shape, of, b, r, h, t); };
    for (std::int64_t r = 0; r < shape.rounds; ++r) own[r] = of.log_sums[place(r)];
    std::fill_n(to, shape.D, T{0});
    const bool any =
        std::any_of(own, own + shape.rounds, [](T log_sum) { return log_sum != kNone; });
    if (any) {
      soften(own, shape.rounds);
    } else {
      std::fill_n(own, shape.rounds, T{0});
      const bool there = of.lengths == nullptr || t < of.lengths[b];
      if (there) std::copy_n(of.alone + shape.row(b, t, h), shape.D, to);
    }
    for (std::int64_t r = 0; r < shape.rounds; ++r) {
      const std::int64_t at = place(r);
      if (of.shares != nullptr) of.shares[at] = own[r];
      if (own[r] == T{0}) continue;
      const T* const from = of.x + at * shape.D;
      for (std::int64_t d = 0; d < shape.D; ++d) to[d] += own[r] * from[d];
    }
  });
}

template <typename T>
void spread_deltas(const SortedShape& shape, const SortedRounds<T>& of, const T* y, const T* dy,
                   T* d_log_sums) {
  for_each_position(shape, [&](std::int64_t b, std::int64_t t, std::int64_t h) {
    const std::int64_t row = shape.row(b, t, h);
    T dot = 0;
    for (std::int64_t d = 0; d < shape.D; ++d) dot += dy[row + d] * y[row + d];
    for (std::int64_t r = 0; r < shape.rounds; ++r) {
      const std::int64_t at = place_of(shape, of, b, r, h, t);
      d_log_sums[at] = -of.shares[at] * dot;
    }
  });
}

template <typename T>
void add_alone(const SortedShape& shape, const SortedRounds<T>& of, const T* dy, T* d_alone) {
  for_each_position(shape, [&](std::int64_t b, std::int64_t t, std::int64_t h) {
    if (of.lengths != nullptr && t >= of.lengths[b]) return;
    for (std::int64_t r = 0; r < shape.rounds; ++r) {
      if (of.shares[place_of(shape, of, b, r, h, t)] != T{0}) return;
    }
    const std::int64_t row = shape.row(b, t, h);
    for (std::int64_t d = 0; d < shape.D; ++d) d_alone[row + d] += dy[row + d];
  });
}

#define HEED_SORTED(T)                                                                             \
  template void take_sorted(const SortedShape&, const T*, const std::int64_t*, const T*, T*);      \
  template void add_sorted(const SortedShape&, const T*, const std::int64_t*, T*);                 \
  template void join_sorted(const SortedShape&, const SortedRounds<T>&, T*);                       \
  template void spread_deltas(const SortedShape&, const SortedRounds<T>&, const T*, const T*, T*); \
  template void add_alone(const SortedShape&, const SortedRounds<T>&, const T*, T*);
HEED_SORTED(float)
HEED_SORTED(double)
#undef HEED_SORTED

}  // namespace heed::kernels
