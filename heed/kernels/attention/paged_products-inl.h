// The two products of attention to pages, for a few rows of queries that share every load: scores
// of full pages, whose keys are transposed, scores of the last page, and weighted sums of values.
// Each result is one chain of sums in the order of features or positions, whatever the rows beside
// it.
#if defined(HEED_KERNELS_ATTENTION_PAGED_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_PAGED_PRODUCTS_INL_H_
#undef HEED_KERNELS_ATTENTION_PAGED_PRODUCTS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_PAGED_PRODUCTS_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "heed/base/dtype.h"
#include "heed/kernels/attention/paged.h"
#include "heed/kernels/bf16-inl.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace paged {

inline constexpr int kWidth = static_cast<int>(hn::MaxLanes(F32()));
inline constexpr int kVectors = static_cast<int>(kPagePositions) / kWidth;  // of one feature
inline constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3;              // 32 instead of 16
/// Sums in registers at most, and rows of queries that share loads.
inline constexpr int kSums = kManyRegisters ? 24 : 12;
inline constexpr int kRows = kSums / kVectors < 6 ? kSums / kVectors : 6;

/// A vector of numbers of a page, as floats.
HWY_INLINE VF load(const float* p) { return hn::LoadU(F32(), p); }
HWY_INLINE VF load(const BFloat16* p) {
  return widen(hn::LoadU(Bf16Tag(), reinterpret_cast<const std::uint16_t*>(p)));
}
HWY_INLINE VF load(const std::int8_t* p) {
  const hn::RebindToSigned<F32> d32;
  const hn::Rebind<std::int8_t, F32> d8;
  return hn::ConvertTo(F32(), hn::PromoteTo(d32, hn::LoadU(d8, p)));
}

/// Adds to sum the products of R numbers x, `stride` apart, and N vectors, whose places y(j) tells.
template <int R, int N, typename Y>
HWY_INLINE void add_products(const float* x, std::int64_t stride, const Y& y, VF (&sum)[R][N]) {
  const F32 d;
  // The smaller side is kept in registers.
  if constexpr (N > R) {
    VF one[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) one[r] = hn::Set(d, x[r * stride]);
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
      const VF vector = load(y(j));
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[r][j] = hn::MulAdd(one[r], vector, sum[r][j]);
    }
  } else {
    VF vector[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) vector[j] = load(y(j));
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const VF one = hn::Set(d, x[r * stride]);
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) sum[r][j] = hn::MulAdd(one, vector[j], sum[r][j]);
    }
  }
}

/// Rows of queries, and of the scores that they get.
struct Rows {
  const float* q;  // [rows, D]
  std::int64_t D;
  float* scores;  // [rows, kBlockPositions]
};

/// The vectors of sums that R rows can have in registers, of scores or of outputs.
template <int R>
inline constexpr int kVectorsOf = kSums / R < 8 ? kSums / R : 8;

/// Calls f with a number of vectors as a constant and the first of them, until `last`: kMost as
/// long as so many are left, then 4, 2 and 1.
template <int kMost, typename F>
HWY_INLINE void for_vectors(std::int64_t first, std::int64_t last, const F& f) {
  for (; first + kMost <= last; first += kMost) f(std::integral_constant<int, kMost>(), first);
  if constexpr (kMost > 1) {
    constexpr int kFewer = kMost > 4 ? 4 : kMost > 2 ? 2 : 1;
    if (first < last) for_vectors<kFewer>(first, last, f);
  }
}

/// The keys or values of a head in the pages of a block, and what is read later, whose memory is
/// requested at the same pace. Pointers are read where the sequence has them: what lies between the
/// products of two heads must be short, because the CPU waits for memory only as far ahead as its
/// buffers reach.
template <typename E>
struct Pages {
  const std::byte* const* pages;  // of the block
  std::int64_t at, later_at;      // where the parts start in a page
  int later, last;                // pages until what is read later; the last page there is
  bool fetches;

  HWY_INLINE const E* now(int page) const { return reinterpret_cast<const E*>(pages[page] + at); }
  HWY_INLINE const std::byte* next(int page) const {
    return pages[std::min(page + later, last)] + later_at;
  }
};

/// Whether products request memory that is read later. One row of f32 does so little with a line
/// that the CPU has enough loads under way by itself, and requests took 13 % of the speed (Zen 5).
template <int R, typename E>
inline constexpr bool kFetches = R > 1 || sizeof(E) < sizeof(float);

/// Scores of V vectors of positions, from vector `first` of the block on.
template <int R, int V, bool kFetch, typename E>
HWY_INLINE void score_vectors(const Rows& rows, const Pages<E>& pages, int first) {
  const F32 d;
  // Bytes of a vector of positions, for one feature; a page that is fetched is shared by them.
  constexpr int kBytes = kWidth * static_cast<int>(sizeof(E));
  constexpr int kFeatures = 4, kLine = 64;
  const E* keys[V];
  const std::byte* later[V];
#pragma GCC unroll 8
  for (int j = 0; j < V; ++j) {
    const int page = (first + j) / kVectors, part = (first + j) % kVectors;
    keys[j] = pages.now(page) + part * kWidth;
    later[j] = pages.next(page) + part * kBytes * rows.D;
  }
  VF sum[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < V; ++j) sum[r][j] = hn::Zero(d);
  }
  const auto add_feature = [&](std::int64_t i) HWY_ATTR {
    add_products(
        rows.q + i, rows.D, [&](int j) HWY_ATTR { return keys[j] + i * kPagePositions; }, sum);
  };
  std::int64_t i = 0;
  for (; i + kFeatures <= rows.D; i += kFeatures) {
    if constexpr (kFetch) {
#pragma GCC unroll 8
      for (int j = 0; j < V; ++j) {
#pragma GCC unroll 8
        for (int at = 0; at < kFeatures * kBytes; at += kLine) {
          hwy::Prefetch(later[j] + i * kBytes + at);
        }
      }
    }
#pragma GCC unroll 4
    for (int f = 0; f < kFeatures; ++f) add_feature(i + f);
  }
  for (; i < rows.D; ++i) add_feature(i);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < V; ++j) {
      hn::StoreU(sum[r][j], d, rows.scores + r * kBlockPositions + (first + j) * kWidth);
    }
  }
}

/// Scores of the full pages [first, last) of a block.
template <int R, typename E>
HWY_INLINE void score_pages(const Rows& rows, const Pages<E>& pages, int first, int last) {
  for_vectors<kVectorsOf<R>>(
      first * kVectors, last * kVectors, [&](auto vectors, std::int64_t j) HWY_ATTR {
        constexpr int V = decltype(vectors)::value;
        if (kFetches<R, E> && pages.fetches) {
          score_vectors<R, V, kFetches<R, E>>(rows, pages, static_cast<int>(j));
        } else {
          score_vectors<R, V, false>(rows, pages, static_cast<int>(j));
        }
      });
}

/// Scores of `count` keys that follow each other, in the slots of the block from `slot` on.
template <int R, typename E>
HWY_INLINE void score_keys(const Rows& rows, const E* keys, std::int64_t slot, std::int64_t count) {
  const F32 d;
  for (std::int64_t k = 0; k < count; ++k, keys += rows.D) {
    VF sum[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sum[r] = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + kWidth <= rows.D; i += kWidth) {
      const VF key = load(keys + i);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        sum[r] = hn::MulAdd(hn::LoadU(d, rows.q + r * rows.D + i), key, sum[r]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      float total = hn::GetLane(hn::SumOfLanes(d, sum[r]));
      for (std::int64_t rest = i; rest < rows.D; ++rest) {
        total += rows.q[r * rows.D + rest] * static_cast<float>(keys[rest]);
      }
      rows.scores[r * kBlockPositions + slot + k] = total;
    }
  }
}

/// Values of a block, the weights of their positions, and the sums that they are added to.
template <typename E>
struct Values {
  Pages<E> pages;            // values [16, width] each
  std::int64_t first, last;  // the positions of the block that count
  std::int64_t width;        // padded Dv
  const float* weights;      // [rows, kBlockPositions]
  float* sums;               // [rows, width]
};

/// N vectors of the sums of R rows, from `column` on. They stay in registers for the whole block:
/// to load and store them for each page took a tenth of the time. The pages are read side by side,
/// first the first position of each: at the end of each piece of memory the CPU waits for the next
/// one, and so it waits a quarter as often (kWhole: all positions of the block).
template <int R, int N, bool kWhole, bool kFetch, typename E>
HWY_INLINE void add_columns(const Values<E>& x, std::int64_t column) {
  const F32 d;
  constexpr std::int64_t kColumnBytes = N * kWidth * std::int64_t{sizeof(E)}, kLine = 64;
  VF sum[R][N];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j)
      sum[r][j] = hn::LoadU(d, x.sums + r * x.width + column + j * kWidth);
  }
  const int begin = kWhole ? 0 : static_cast<int>(x.first / kPagePositions);
  const int end =
      kWhole ? kBlockPages : static_cast<int>((x.last + kPagePositions - 1) / kPagePositions);
  const E* from[kBlockPages];
  const std::byte* later[kBlockPages];
#pragma GCC unroll 8
  for (int page = begin; page < end; ++page) {
    from[page] = x.pages.now(page) + column;
    // These columns fetch their share of the later page.
    later[page] = x.pages.next(page) + column * kPagePositions * std::int64_t{sizeof(E)};
  }
  for (std::int64_t slot = 0; slot < kPagePositions; ++slot) {
#pragma GCC unroll 8
    for (int page = begin; page < end; ++page) {
      if constexpr (kFetch) {
#pragma GCC unroll 8
        for (std::int64_t line = 0; line < kColumnBytes; line += kLine) {
          hwy::Prefetch(later[page] + slot * kColumnBytes + line);
        }
      }
      const std::int64_t at = page * kPagePositions + slot;
      if (!kWhole && (at < x.first || at >= x.last)) continue;
      const E* const row = from[page] + slot * x.width;
      add_products(
          x.weights + at, kBlockPositions, [&](int j) HWY_ATTR { return row + j * kWidth; }, sum);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j)
      hn::StoreU(sum[r][j], d, x.sums + r * x.width + column + j * kWidth);
  }
}

/// Adds the values of a block to the sums of R rows.
template <int R, typename E>
HWY_INLINE void add_values(const Values<E>& x) {
  for_vectors<kVectorsOf<R>>(0, x.width / kWidth, [&](auto vectors, std::int64_t j) HWY_ATTR {
    constexpr int N = decltype(vectors)::value;
    if (x.first > 0 || x.last < kBlockPositions) {
      add_columns<R, N, false, false>(x, j * kWidth);
    } else if (kFetches<R, E> && x.pages.fetches) {
      add_columns<R, N, true, kFetches<R, E>>(x, j * kWidth);
    } else {
      add_columns<R, N, true, false>(x, j * kWidth);
    }
  });
}

/// Calls f with the number of rows as a constant, for `rows` rows in the most even groups: the
/// first row of the group is its argument.
template <typename F>
HWY_INLINE void for_rows(std::int64_t rows, const F& f) {
  const std::int64_t groups = (rows + kRows - 1) / kRows;
  for (std::int64_t group = 0, first = 0; group < groups; ++group) {
    const std::int64_t count = (rows - first + groups - group - 1) / (groups - group);
    switch (count) {
      case 1:
        f(std::integral_constant<int, 1>(), first);
        break;
      case 2:
        f(std::integral_constant<int, 2>(), first);
        break;
      case 3:
        f(std::integral_constant<int, 3>(), first);
        break;
      case 4:
        if constexpr (kRows >= 4) f(std::integral_constant<int, 4>(), first);
        break;
      case 5:
        if constexpr (kRows >= 5) f(std::integral_constant<int, 5>(), first);
        break;
      default:
        if constexpr (kRows >= 6) f(std::integral_constant<int, 6>(), first);
    }
    first += count;
  }
}

}  // namespace paged
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
