// The two products of attention for few queries, with neighbouring features in a vector: keys and
// values are read in memory order, and a single query wastes no lane. Speed depends on the hardware
// prefetcher seeing one stream of loads; prefetch instructions were slower (Zen 4;
// docs/design/2026-11-attention.md).
#if defined(HEED_KERNELS_ATTENTION_DECODE_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_DECODE_PRODUCTS_INL_H_
#undef HEED_KERNELS_ATTENTION_DECODE_PRODUCTS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_DECODE_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "heed/base/dtype.h"
#include "heed/kernels/attention/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The result of one load of elements of type T: a few vectors of floats. Queries and outputs are
/// stored in the order in which the elements are loaded.
template <typename T>
struct Unit;

template <>
struct Unit<float> {
  static constexpr int kVectors = 1;
  static constexpr std::int64_t kSize = kLanes;
  static HWY_INLINE void load(const float* p, VF* x) { x[0] = hn::LoadU(F32(), p); }
  static HWY_INLINE void load_first(const float* p, std::size_t n, VF* x) {
    x[0] = LoadFirst(F32(), p, n);
  }
  /// The index of the i-th element of a row in that order.
  static std::int64_t place(std::int64_t i) { return i; }
};

// Elements at even indices, then those at odd ones: a shift and a mask widen them, while keeping
// their order would need a shuffle as well.
template <>
struct Unit<BFloat16> {
  static constexpr int kVectors = 2;
  static constexpr std::int64_t kSize = 2 * kLanes;
  using U32 = hn::RebindToUnsigned<F32>;
  using U16 = hn::Repartition<std::uint16_t, F32>;
  static HWY_INLINE void widen(hn::Vec<U16> pairs, VF* x) {
    const auto bits = hn::BitCast(U32(), pairs);
    x[0] = hn::BitCast(F32(), hn::ShiftLeft<16>(bits));
    x[1] = hn::BitCast(F32(), hn::And(bits, hn::Set(U32(), 0xffff0000u)));
  }
  static HWY_INLINE void load(const BFloat16* p, VF* x) {
    widen(hn::LoadU(U16(), reinterpret_cast<const std::uint16_t*>(p)), x);
  }
  static HWY_INLINE void load_first(const BFloat16* p, std::size_t n, VF* x) {
    widen(LoadFirst(U16(), reinterpret_cast<const std::uint16_t*>(p), n), x);
  }
  static std::int64_t place(std::int64_t i) {
    return i / kSize * kSize + i % 2 * kLanes + i % kSize / 2;
  }
};

/// A row of n elements as units.
template <typename T>
struct Units {
  std::int64_t whole;  ///< Number of whole units.
  std::int64_t tail;   ///< Number of elements after them.
  explicit Units(std::int64_t n) : whole(n / Unit<T>::kSize), tail(n % Unit<T>::kSize) {}
  /// Number of floats in the row.
  std::int64_t floats() const { return (whole + (tail > 0 ? 1 : 0)) * Unit<T>::kSize; }
};

/// Lane i of the result is the sum of all lanes of x[i].
template <int N>
HWY_INLINE VF sum_each(VF (&x)[N]) {
  const F32 d;
  const hn::Repartition<double, F32> d64;
#pragma GCC unroll 8
  for (int i = 0; i < N / 2; ++i) {
    x[i] = hn::Add(hn::InterleaveLower(d, x[2 * i], x[2 * i + 1]),
                   hn::InterleaveUpper(d, x[2 * i], x[2 * i + 1]));
  }
#pragma GCC unroll 4
  for (int i = 0; i < N / 4; ++i) {
    const auto a = hn::BitCast(d64, x[2 * i]), b = hn::BitCast(d64, x[2 * i + 1]);
    x[i] = hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, a, b)),
                   hn::BitCast(d, hn::InterleaveUpper(d64, a, b)));
  }
  // Within blocks of 128 bits, four lanes are four sums; then the blocks are added.
  const auto add_halves = [](VF a, VF b) HWY_ATTR {
    return hn::Add(hn::ConcatLowerLower(F32(), b, a), hn::ConcatUpperUpper(F32(), b, a));
  };
  if constexpr (N == 4) {
    return x[0];
  } else if constexpr (N == 8) {
    return add_halves(x[0], x[1]);
  } else {
    static_assert(N == 16);
    const auto add_neighbours = [](VF a, VF b) HWY_ATTR {
      return hn::Add(hn::OddEvenBlocks(b, a), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(a, b)));
    };
    return add_halves(add_neighbours(x[0], x[1]), add_neighbours(x[2], x[3]));
  }
}

/// A barrier: the compiler neither moves a load across it nor repeats an earlier one.
HWY_INLINE void loads_end_here() { asm volatile("" ::: "memory"); }

// How the units of a row are loaded: whole, or the last elements.
template <typename T>
struct WholeUnit {
  HWY_INLINE void load(const T* p, VF* x) const { Unit<T>::load(p, x); }
};
template <typename T>
struct TailUnit {
  std::size_t n;
  HWY_INLINE void load(const T* p, VF* x) const { Unit<T>::load_first(p, n, x); }
};

/// sums[r][k] += queries[r] * keys[k], lane by lane, for the unit at `at`.
template <int kRows, int kKeys, typename T, typename Part>
HWY_INLINE void multiply_unit(Part part, const T* const (&keys)[kKeys], std::int64_t at,
                              RowsOf<const float> queries, VF (&sums)[kRows][kKeys]) {
  constexpr int kVectors = Unit<T>::kVectors;
  VF x[kKeys][kVectors];
#pragma GCC unroll 2
  for (int k = 0; k < kKeys; ++k) part.load(keys[k] + at, x[k]);
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const VF q = hn::Load(F32(), queries.row(r) + at + v * kLanes);
      if constexpr (kKeys > 1)
        loads_end_here();  // otherwise the query is loaded again for each key
#pragma GCC unroll 2
      for (int k = 0; k < kKeys; ++k) sums[r][k] = hn::MulAdd(q, x[k][v], sums[r][k]);
    }
  }
}

/// sums[r][k] = queries[r] * keys[k], lane by lane.
template <int kRows, int kKeys, typename T>
HWY_INLINE void multiply_keys(const T* const (&keys)[kKeys], Units<T> units,
                              RowsOf<const float> queries, VF (&sums)[kRows][kKeys]) {
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int k = 0; k < kKeys; ++k) sums[r][k] = hn::Zero(F32());
  }
  const std::int64_t whole = units.whole * Unit<T>::kSize;
  for (std::int64_t at = 0; at < whole; at += Unit<T>::kSize) {
    multiply_unit(WholeUnit<T>{}, keys, at, queries, sums);
  }
  if (units.tail > 0) {
    const TailUnit<T> tail{static_cast<std::size_t>(units.tail)};
    multiply_unit(tail, keys, whole, queries, sums);
  }
}

/// scores[r][k] = queries[r] * keys[k] for kLanes keys, of which kSide are read at the same time.
template <int kRows, int kSide, typename T>
HWY_NOINLINE void score_keys(const T* const* keys, Units<T> units, RowsOf<const float> queries,
                             RowsOf<float> scores) {
  constexpr int kKeys = kLanes / kRows;  // gives a whole vector of scores
  constexpr int kNow = std::min(kSide, kKeys);
  for (std::int64_t first = 0; first < kLanes; first += kKeys) {
    VF products[kLanes];
#pragma GCC unroll 16
    for (int k = 0; k < kKeys; k += kNow) {
      const T* now[kNow];
      VF sums[kRows][kNow];
#pragma GCC unroll 2
      for (int i = 0; i < kNow; ++i) now[i] = keys[first + k + i];
      multiply_keys(now, units, queries, sums);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
        for (int i = 0; i < kNow; ++i) products[r * kKeys + k + i] = sums[r][i];
      }
    }
    HWY_ALIGN float lanes[kLanes];
    hn::Store(sum_each(products), F32(), lanes);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) std::copy_n(lanes + r * kKeys, kKeys, scores.row(r) + first);
  }
}

/// scores = queries * keys, for `rows` queries and n keys. Rows of scores are whole vectors;
/// elements after n are padding.
template <typename T>
void score_rows(RowsOf<const T> keys, std::int64_t n, Units<T> units, std::int64_t rows,
                RowsOf<const float> queries, RowsOf<float> scores) {
  // Two keys share the loads of queries; but two long keys read at the same time are two streams
  // (512 bytes: a third of the bandwidth).
  constexpr std::int64_t kPairBytes = 256;
  const bool pairs = units.floats() * static_cast<std::int64_t>(sizeof(T)) <= kPairBytes;
  for (std::int64_t k = 0; k < n; k += kLanes) {
    const T* these[kLanes];
    for (std::int64_t i = 0; i < kLanes; ++i) these[i] = keys.row(std::min(k + i, n - 1));
    const auto run = [&](auto kernel, std::int64_t r) {
      kernel(these, units, RowsOf<const float>{queries.row(r), queries.stride},
             RowsOf<float>{scores.row(r) + k, scores.stride});
    };
    std::int64_t r = 0;
    for (; r + 4 <= rows; r += 4) run(pairs ? score_keys<4, 2, T> : score_keys<4, 1, T>, r);
    if (r + 2 <= rows) {
      run(pairs ? score_keys<2, 2, T> : score_keys<2, 1, T>, r);
      r += 2;
    }
    if (r < rows) run(pairs ? score_keys<1, 2, T> : score_keys<1, 1, T>, r);
  }
}

/// out[r] += sum over keys of weights[r][k] * values[k], for a few rows and units, in registers.
/// With several rows the values are in L1 already and are read backwards: reading them forwards
/// with gaps would make the hardware prefetch with gaps (f32, D = 64, 4 rows: a fifth slower).
template <int kRows, int kUnits, typename T, typename Part>
HWY_NOINLINE void read_panel(Part part, RowsOf<const T> values, std::int64_t keys,
                             RowsOf<const float> weights, RowsOf<float> out) {
  const F32 d;
  constexpr int kVectors = kUnits * Unit<T>::kVectors;
  VF sums[kRows][kVectors];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Load(d, out.row(r) + v * kLanes);
  }
  for (std::int64_t i = 0; i < keys; ++i) {
    const std::int64_t k = kRows == 1 ? i : keys - 1 - i;
    const T* const value = values.row(k);
    VF weight[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) weight[r] = hn::Set(d, weights.row(r)[k]);
#pragma GCC unroll 16
    for (int u = 0; u < kUnits; ++u) {
      constexpr int kEach = Unit<T>::kVectors;
      VF x[kEach];
      part.load(value + u * Unit<T>::kSize, x);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < kEach; ++v) {
          sums[r][u * kEach + v] = hn::MulAdd(weight[r], x[v], sums[r][u * kEach + v]);
        }
      }
    }
    loads_end_here();
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) hn::Store(sums[r][v], d, out.row(r) + v * kLanes);
  }
}

/// The sums that a panel keeps in registers.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kPanelVectors = 16;
#else
inline constexpr int kPanelVectors = 8;
#endif

/// All units of a few rows, in the widest panels that fit into registers.
template <int kRows, typename T, int kUnits = kPanelVectors / (kRows * Unit<T>::kVectors)>
void read_units(RowsOf<const T> values, std::int64_t keys, Units<T> units,
                RowsOf<const float> weights, RowsOf<float> out) {
  for (; units.whole >= kUnits; units.whole -= kUnits) {
    read_panel<kRows, kUnits>(WholeUnit<T>{}, values, keys, weights, out);
    values.data += kUnits * Unit<T>::kSize;
    out.data += kUnits * Unit<T>::kSize;
  }
  if constexpr (kUnits > 1) {
    read_units<kRows, T, kUnits / 2>(values, keys, units, weights, out);
  } else if (units.tail > 0) {
    const TailUnit<T> tail{static_cast<std::size_t>(units.tail)};
    read_panel<kRows, 1>(tail, values, keys, weights, out);
  }
}

/// Loads one byte of each cache line of n rows, in order.
template <typename T>
HWY_NOINLINE void touch_rows(RowsOf<const T> rows, std::int64_t n, std::int64_t length) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t i = 0; i < length; i += kLine) {
      static_cast<void>(*reinterpret_cast<const volatile char*>(rows.row(k) + i));
    }
  }
}

/// out[r] += sum over keys of weights[r][k] * values[k], for all rows. A single row reads values
/// nearly in order. For several rows, values are loaded into L1 in order, few at a time, so that
/// the processor computes with some while it waits for the next.
template <typename T>
void read_rows(RowsOf<const T> values, std::int64_t n, std::int64_t Dv, std::int64_t rows,
               RowsOf<const float> weights, RowsOf<float> out) {
  const std::int64_t bytes = rows == 1 ? 4 << 10 : 2 << 10;
  const Units<T> units(Dv);
  const std::int64_t step =
      std::max<std::int64_t>(4, bytes / (Dv * static_cast<std::int64_t>(sizeof(T))));
  for (std::int64_t k = 0; k < n; k += step) {
    const RowsOf<const T> these{values.row(k), values.stride};
    const std::int64_t keys = std::min(step, n - k);
    if (rows > 1) touch_rows(these, keys, Dv);
    const auto run = [&](auto kernel, std::int64_t r) {
      kernel(these, keys, units, RowsOf<const float>{weights.row(r) + k, weights.stride},
             RowsOf<float>{out.row(r), out.stride});
    };
    std::int64_t r = 0;
    for (; r + 4 <= rows; r += 4) run(read_units<4, T>, r);
    if (r + 2 <= rows) {
      run(read_units<2, T>, r);
      r += 2;
    }
    if (r < rows) run(read_units<1, T>, r);
  }
}

/// The same, slower: a weight of 0 contributes nothing, even if the value is NaN.
template <typename T>
HWY_NOINLINE void read_rows_visible(RowsOf<const T> values, std::int64_t n, std::int64_t Dv,
                                    std::int64_t rows, RowsOf<const float> weights,
                                    RowsOf<float> out) {
  const Units<T> units(Dv);
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const RowsOf<const float> weight{weights.row(r) + k, weights.stride};
      if (*weight.data == 0.0f) continue;
      read_units<1, T>({values.row(k), values.stride}, 1, units, weight, {out.row(r), out.stride});
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
