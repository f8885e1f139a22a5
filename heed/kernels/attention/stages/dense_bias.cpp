#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/stages/dense_bias.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>

#include "heed/kernels/attention/stages/add_up.h"
#include "heed/kernels/attention/stages/dense_bias.h"
#include "heed/kernels/attention/stages/tile-inl.h"
#include "heed/kernels/attention/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// Rows of a bias are far apart, more of them than the hardware prefetches: each cache line is
// prefetched into L2 one tile before it is needed.
constexpr std::int64_t kAhead = 128;
constexpr std::int64_t kLine = 16;

HWY_INLINE void add_square(const Tile<float>& tile, RowsOf<const float> bias, const Square& at) {
  const F32 d;
  VF x[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    const float* const row = bias.row(at.r + i) + at.c;
    if (at.c % kLine == 0) __builtin_prefetch(row + kAhead, 0, 2);
    x[i] = hn::LoadU(d, row);
  }
  transpose_square(d, x);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    float* const s = tile.key(at.c + i) + at.r;
    hn::Store(hn::Add(hn::Load(d, s), x[i]), d, s);
  }
}

// The same for a square that is partly outside the tile.
HWY_NOINLINE void add_part(Tile<float> tile, RowsOf<const float> bias, Square at) {
  const F32 d;
  VF x[kLanes];
  for (std::int64_t i = 0; i < kLanes; ++i) {
    const float* const row = bias.row(at.r + i) + at.c;
    x[i] = i >= at.rows        ? hn::Zero(d)
           : at.keys == kLanes ? hn::LoadU(d, row)
                               : LoadFirst(d, row, static_cast<std::size_t>(at.keys));
  }
  transpose_square(d, x);
  for (std::int64_t i = 0; i < at.keys; ++i) {
    float* const s = tile.key(at.c + i) + at.r;
    hn::Store(hn::Add(hn::Load(d, s), x[i]), d, s);
  }
}

// `data` is at the tile's first query and key.
void add_bias(Tile<float> tile, const float* data, std::int64_t stride) {
  const RowsOf<const float> bias{data, stride};
  for_each_square(tile, [&](const Square& at) HWY_ATTR {
    at.whole() ? add_square(tile, bias, at) : add_part(tile, bias, at);
  });
}

// One number per key.
void add_key_bias(Tile<float> tile, const float* bias) {
  const F32 d;
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    const VF more = hn::Set(d, bias[c]);
    for (std::int64_t r = 0; r < tile.rows; r += kLanes) {
      float* const s = tile.key(c) + r;
      hn::Store(hn::Add(hn::Load(d, s), more), d, s);
    }
  }
}

HWY_INLINE void collect_square(const Tile<float>& gradient, RowsOf<float> to, const Square& at) {
  const F32 d;
  VF x[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if (at.c % kLine == 0) __builtin_prefetch(to.row(at.r + i) + at.c + kAhead, 1, 2);
    x[i] = hn::Load(d, gradient.key(at.c + i) + at.r);
  }
  transpose_square(d, x);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    float* const row = to.row(at.r + i) + at.c;
    hn::StoreU(hn::Add(hn::LoadU(d, row), x[i]), d, row);
  }
}

HWY_NOINLINE void collect_part(Tile<float> gradient, RowsOf<float> to, Square at) {
  const F32 d;
  VF x[kLanes];
  for (std::int64_t i = 0; i < kLanes; ++i) {
    x[i] = i < at.keys ? hn::Load(d, gradient.key(at.c + i) + at.r) : hn::Zero(d);
  }
  transpose_square(d, x);
  for (std::int64_t i = 0; i < at.rows; ++i) {
    float* const row = to.row(at.r + i) + at.c;
    if (at.keys == kLanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, row), x[i]), d, row);
    } else {
      const auto n = static_cast<std::size_t>(at.keys);
      StoreFirst(hn::Add(LoadFirst(d, row, n), x[i]), d, row, n);
    }
  }
}

// The gradient of add_bias: to[r][c] += gradient(c, r).
void add_transposed(Tile<float> gradient, float* data, std::int64_t stride) {
  const RowsOf<float> to{data, stride};
  for_each_square(gradient, [&](const Square& at) HWY_ATTR {
    at.whole() ? collect_square(gradient, to, at) : collect_part(gradient, to, at);
  });
}

// The gradient of add_key_bias: to[c] += the sum of gradient(c, :).
void add_key_sums(Tile<float> gradient, float* to) {
  const F32 d;
  for (std::int64_t c = 0; c < gradient.cols; ++c) {
    VF sum = hn::Zero(d);
    std::int64_t r = 0;
    for (; r + kLanes <= gradient.rows; r += kLanes) {
      sum = hn::Add(sum, hn::Load(d, gradient.key(c) + r));
    }
    if (r < gradient.rows) {
      const VF last = hn::Load(d, gradient.key(c) + r);
      sum = hn::Add(sum, hn::IfThenElseZero(rows_at(gradient, r), last));
    }
    to[c] += hn::GetLane(hn::SumOfLanes(d, sum));
  }
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(add_bias);
HWY_EXPORT(add_key_bias);
HWY_EXPORT(add_transposed);
HWY_EXPORT(add_key_sums);

void add(const Tile<float>& tile, const float* bias, std::int64_t stride) {
  if (stride == 0) return HEED_DISPATCH(add_key_bias)(tile, bias);
  HEED_DISPATCH(add_bias)(tile, bias, stride);
}
void add(const Tile<double>& tile, const double* bias, std::int64_t stride) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) tile.at(c, r) += bias[r * stride + c];
  }
}

void collect(const Tile<float>& gradient, float* to, std::int64_t stride) {
  if (stride == 0) return HEED_DISPATCH(add_key_sums)(gradient, to);
  HEED_DISPATCH(add_transposed)(gradient, to, stride);
}
void collect(const Tile<double>& gradient, double* to, std::int64_t stride) {
  for (std::int64_t c = 0; c < gradient.cols; ++c) {
    for (std::int64_t r = 0; r < gradient.rows; ++r) to[r * stride + c] += gradient.at(c, r);
  }
}

}  // namespace

template <typename T>
StageNeeds DenseBias<T>::needs(std::int64_t /*rows*/, bool backward) const {
  StageNeeds needs;
  if (backward && learned() && one_row()) needs.sums = table_.keys;
  return needs;
}

template <typename T>
void DenseBias<T>::forward(const Tile<T>& tile, StageSpace<T> /*space*/) const {
  const Heads<const T>& bias = table_.values;
  add(tile, bias.at(tile.batch, tile.head, tile.row) + tile.col, bias.row);
}

template <typename T>
void DenseBias<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  if (!learned()) return;
  if (one_row()) return collect(gradient, space.sums + gradient.col, 0);
  const Heads<T>& to = table_.gradient;
  collect(gradient, to.at(gradient.batch, gradient.head, gradient.row) + gradient.col, to.row);
}

template <typename T>
void DenseBias<T>::finish(const StageSums<T>& sums) const {
  if (!learned() || !one_row()) return;
  add_up(sums, table_.keys, [this](std::int64_t b, std::int64_t h, std::int64_t i) -> T& {
    return table_.gradient.at(b, h)[i];
  });
}

template <typename T>
bool DenseBias<T>::in_turn() const {
  return learned() && !one_row() && (table_.gradient.batch == 0 || table_.gradient.head == 0);
}

template class DenseBias<float>;
template class DenseBias<double>;

}  // namespace heed::kernels
#endif  // HWY_ONCE
