// Rows of some heads in several sorted orders, for attention that sorts its positions (LSH). Every
// position has one place in every order. Plain loops that the compiler vectorises, for float and
// double, so there is no SIMD version and no twin.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// Rows x [B, T, H, D], of which heads [head, head + heads) are in `rounds` orders. A line is one
/// order, [B, rounds, heads], of T places.
struct SortedShape {
  std::int64_t B = 1, T = 0, H = 1, D = 1;
  std::int64_t rounds = 1, head = 0, heads = 1;

  std::int64_t lines() const { return B * rounds * heads; }
  std::int64_t line(std::int64_t b, std::int64_t round, std::int64_t of_heads) const {
    return (b * rounds + round) * heads + of_heads;
  }
  /// The first element of a row of x.
  std::int64_t row(std::int64_t b, std::int64_t position, std::int64_t of_heads) const {
    return ((b * T + position) * H + head + of_heads) * D;
  }
};

/// y[line, s] = factors[line, s] x[b, order[line, s], h]: rows by place. Without factors, x itself.
template <typename T>
void take_sorted(const SortedShape& shape, const T* x, const std::int64_t* order, const T* factors,
                 T* y);

/// y[b, t, h] = sum over rounds of x[line, place[line, t]], in the order of the rounds. Rows of
/// other heads stay as they are.
template <typename T>
void add_sorted(const SortedShape& shape, const T* x, const std::int64_t* place, T* y);

/// The results of the rounds as one softmax.
template <typename T>
struct SortedRounds {
  const T* x = nullptr;         ///< [lines, T, D]: the results of each round, by place.
  const T* log_sums = nullptr;  ///< [lines, T]
  const std::int64_t* place = nullptr;
  const T* alone = nullptr;               ///< [B, T, H, D]: rows that have no key in any round.
  const std::int64_t* lengths = nullptr;  ///< [B], or null: T. Later rows are 0.
  T* shares = nullptr;                    ///< [lines, T], written; null if not wanted.
};

/// y[b, t, h] = sum over rounds r of share_r x[line, place[line, t]], where the shares are the
/// softmax of the log-sums. Of rows without a key, the shares are 0.
template <typename T>
void join_sorted(const SortedShape& shape, const SortedRounds<T>& of, T* y);

/// For the gradient of join_sorted, where d(x) = share dy: d_log_sums[line, place] = -share (dy .
/// y). With the gradient share (dy . x) through the softmax of the rounds, this is all that
/// attention's backward pass needs of x.
template <typename T>
void spread_deltas(const SortedShape& shape, const SortedRounds<T>& of, const T* y, const T* dy,
                   T* d_log_sums);

/// d_alone[b, t, h] += dy[b, t, h] for rows that have no key in any round: all their shares are 0.
template <typename T>
void add_alone(const SortedShape& shape, const SortedRounds<T>& of, const T* dy, T* d_alone);

}  // namespace heed::kernels
