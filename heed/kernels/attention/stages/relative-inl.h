// Tables of one number per clipped distance and query, added to tiles or summed from them. In a
// vector of neighbouring queries each lane has a different distance, so tables are stored skewed:
// lane l of row t belongs to distance t - l, and a key needs one row, t = key - first query of the
// vector.
#if defined(HEED_KERNELS_ATTENTION_STAGES_RELATIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_STAGES_RELATIVE_INL_H_
#undef HEED_KERNELS_ATTENTION_STAGES_RELATIVE_INL_H_
#else
#define HEED_KERNELS_ATTENTION_STAGES_RELATIVE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "heed/kernels/attention/stages/tile-inl.h"
#include "heed/kernels/attention/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Such a table in memory: rows for t from -k - (lanes - 1) to k + (lanes - 1); a skewed table uses
/// those from -k on.
struct Skewed {
  float* data;
  std::int64_t stride;
  std::int64_t clip;

  static constexpr std::int64_t kMargin = kLanes - 1;
  std::int64_t rows() const { return 2 * (clip + kMargin) + 1; }
  float* row(std::int64_t t) const { return data + (t + clip + kMargin) * stride; }
  /// The highest row; there and in the lowest, -k, all lanes are clipped.
  std::int64_t top() const { return clip + kMargin; }
  /// Distances -k .. k, when the table is not skewed.
  float* plain() const { return row(-clip); }
  /// The table from `query` on.
  Skewed from(std::int64_t query) const { return {data + query, stride, clip}; }
};

/// The lanes whose index has this bit set.
template <unsigned kBit>
HWY_INLINE hn::Mask<F32> lanes_with_bit() {
  const hn::RebindToUnsigned<F32> du;
  return hn::RebindMask(F32(), hn::TestBit(hn::Iota(du, 0), hn::Set(du, kBit)));
}

// Moves the lanes with that bit set by as many rows: up, or down if kBack. Works in place, starting
// where the overwritten rows are no longer needed; lanes into which nothing moves become 0.
template <unsigned kBit, bool kBack>
HWY_INLINE void shift_lanes(const Skewed& x, std::int64_t vectors) {
  const F32 d;
  const auto moved = lanes_with_bit<kBit>();
  const std::int64_t step = kBack ? x.stride : -x.stride;
  constexpr std::int64_t kRows = kBit;
  for (std::int64_t v = 0; v < vectors; ++v) {
    float* p = (kBack ? x.data : x.row(x.top())) + v * kLanes;
    for (std::int64_t n = x.rows() - kRows; n > 0; --n, p += step) {
      hn::Store(hn::IfThenElse(moved, hn::Load(d, p + kRows * step), hn::Load(d, p)), d, p);
    }
    for (std::int64_t n = kRows; n > 0; --n, p += step) {
      hn::Store(hn::IfThenZeroElse(moved, hn::Load(d, p)), d, p);
    }
  }
}

template <bool kBack>
HWY_INLINE void shift_all_lanes(const Skewed& x, std::int64_t vectors) {
  shift_lanes<1, kBack>(x, vectors);
  shift_lanes<2, kBack>(x, vectors);
  if constexpr (kLanes >= 8) shift_lanes<4, kBack>(x, vectors);
  if constexpr (kLanes >= 16) shift_lanes<8, kBack>(x, vectors);
}

/// From distances -k .. k in plain() to a skewed table.
inline void skew(const Skewed& x, std::int64_t vectors) {
  for (std::int64_t t = 1; t <= Skewed::kMargin; ++t) {
    std::copy_n(x.row(-x.clip), vectors * kLanes, x.row(-x.clip - t));
    std::copy_n(x.row(x.clip), vectors * kLanes, x.row(x.clip + t));
  }
  shift_all_lanes<false>(x, vectors);
}

/// From a skewed table of sums, whose rows below -k are 0, to distances -k .. k in plain().
inline void unskew(const Skewed& x, std::int64_t vectors) {
  const F32 d;
  shift_all_lanes<true>(x, vectors);
  for (std::int64_t r = 0; r < vectors * kLanes; r += kLanes) {
    VF low = hn::Load(d, x.row(-x.clip) + r);
    for (std::int64_t t = 1; t <= Skewed::kMargin; ++t) {
      low = hn::Add(low, hn::Load(d, x.row(-x.clip - t) + r));
    }
    hn::Store(low, d, x.row(-x.clip) + r);
    VF high = hn::Load(d, x.row(x.clip) + r);
    for (std::int64_t t = 1; t <= Skewed::kMargin; ++t) {
      high = hn::Add(high, hn::Load(d, x.row(x.clip + t) + r));
    }
    hn::Store(high, d, x.row(x.clip) + r);
  }
}

/// Keys before `low` and keys from `high` on are clipped for all queries of a vector.
struct Reach {
  std::int64_t low, high;
  /// t0 is the row of key 0.
  Reach(const Skewed& x, std::int64_t t0, std::int64_t keys)
      : low(std::clamp<std::int64_t>(-x.clip + 1 - t0, 0, keys)),
        high(std::clamp<std::int64_t>(x.top() - t0, low, keys)) {}
};

/// tile += X; `distance` is that of the tile's first key from its first query, which is also the
/// first query of X.
inline void add_skewed(Skewed x, Tile<float> tile, std::int64_t distance) {
  const F32 d;
  for (std::int64_t r = 0; r < tile.rows; r += kLanes) {
    const std::int64_t t0 = distance - r;
    const Reach reach(x, t0, tile.cols);
    const VF low = hn::Load(d, x.row(-x.clip) + r), high = hn::Load(d, x.row(x.top()) + r);
    const auto add = [&](std::int64_t c, VF more) HWY_ATTR {
      float* const s = tile.key(c) + r;
      hn::Store(hn::Add(hn::Load(d, s), more), d, s);
    };
    std::int64_t c = 0;
    for (; c < reach.low; ++c) add(c, low);
    for (; c < reach.high; ++c) add(c, hn::Load(d, x.row(t0 + c) + r));
    for (; c < tile.cols; ++c) add(c, high);
  }
}

/// The sum of the vectors of some keys, in four interleaved sums for short dependency chains.
HWY_INLINE VF sum_of_keys(const Tile<float>& tile, std::int64_t r, std::int64_t from,
                          std::int64_t to) {
  const F32 d;
  VF sum[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (; from + 4 <= to; from += 4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) sum[i] = hn::Add(sum[i], hn::Load(d, tile.key(from + i) + r));
  }
  for (; from < to; ++from) sum[0] = hn::Add(sum[0], hn::Load(d, tile.key(from) + r));
  return hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
}

/// X += tile.
inline void sum_skewed(Skewed x, Tile<float> tile, std::int64_t distance) {
  const F32 d;
  for (std::int64_t r = 0; r < tile.rows; r += kLanes) {
    const std::int64_t t0 = distance - r;
    const Reach reach(x, t0, tile.cols);
    const auto add = [&](std::int64_t t, VF more) HWY_ATTR {
      float* const p = x.row(t) + r;
      hn::Store(hn::Add(hn::Load(d, p), more), d, p);
    };
    if (reach.low > 0) add(-x.clip, sum_of_keys(tile, r, 0, reach.low));
    for (std::int64_t c = reach.low; c < reach.high; ++c) {
      add(t0 + c, hn::Load(d, tile.key(c) + r));
    }
    if (reach.high < tile.cols) add(x.top(), sum_of_keys(tile, r, reach.high, tile.cols));
  }
}

/// Like AddTo, but C need not be aligned.
struct AddToAnywhere {
  float* c;
  std::int64_t stride;
  HWY_INLINE VF start(int i, int lane) const { return hn::LoadU(F32(), c + i * stride + lane); }
  template <int M, int N>
  HWY_INLINE void done(const VF (&x)[M][N]) const {
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) hn::StoreU(x[i][j], F32(), c + i * stride + j * kLanes);
    }
  }
  AddToAnywhere from(std::int64_t i, std::int64_t lane) const {
    return {c + i * stride + lane, stride};
  }
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
