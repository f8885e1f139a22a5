#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/stages/watch.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cstring>
#include <limits>

#include "heed/base/arena.h"
#include "heed/kernels/attention/stages/tile-inl.h"
#include "heed/kernels/attention/stages/watch.h"
#include "heed/kernels/attention/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

bool any_watched(const std::int32_t* slots, std::int64_t rows) {
  return std::any_of(slots, slots + rows, [](std::int32_t slot) { return slot >= 0; });
}

// Rows of a square where they belong; `to` is at the tile's first key.
HWY_INLINE void copy_square(const Tile<float>& tile, RowsOf<float> to, const std::int32_t* slots,
                            const Square& at, float factor) {
  const F32 d;
  VF x[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    x[i] = hn::Mul(hn::Load(d, tile.key(at.c + i) + at.r), hn::Set(d, factor));
  }
  transpose_square(d, x);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if (slots[at.r + i] >= 0) hn::StoreU(x[i], d, to.row(slots[at.r + i]) + at.c);
  }
}

// The same where a part of the square is outside.
HWY_NOINLINE void copy_part(Tile<float> tile, RowsOf<float> to, const std::int32_t* slots,
                            Square at, float factor) {
  for (std::int64_t r = at.r; r < at.r + at.rows; ++r) {
    if (slots[r] < 0) continue;
    float* const row = to.row(slots[r]);
    for (std::int64_t c = at.c; c < at.c + at.keys; ++c) row[c] = tile.at(c, r) * factor;
  }
}

// slots[r] is the row of `to` for the tile's query r, or -1.
void copy_tile(Tile<float> tile, float* to, std::int64_t stride, const std::int32_t* slots,
               float factor) {
  for_each_square(tile, [&](const Square& at) HWY_ATTR {
    if (!any_watched(slots + at.r, at.rows)) return;
    const RowsOf<float> rows{to, stride};
    at.whole() ? copy_square(tile, rows, slots, at, factor)
               : copy_part(tile, rows, slots, at, factor);
  });
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(copy_tile);

void copy(const Tile<float>& tile, float* to, std::int64_t stride, const std::int32_t* slots,
          float factor) {
  HEED_DISPATCH(copy_tile)(tile, to, stride, slots, factor);
}
void copy(const Tile<double>& tile, double* to, std::int64_t stride, const std::int32_t* slots,
          double factor) {
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    if (slots[r] < 0) continue;
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      to[slots[r] * stride + c] = tile.at(c, r) * factor;
    }
  }
}

template <typename T>
void multiply(T* x, std::int64_t n, T factor) {
  for (std::int64_t i = 0; i < n; ++i) x[i] *= factor;
}

}  // namespace

// A block's memory holds what was seen of it, as bytes.
template <typename T>
StageNeeds Watch<T>::needs(std::int64_t /*rows*/, bool /*backward*/) const {
  StageNeeds needs;
  needs.block = static_cast<std::int64_t>((sizeof(Seen) + sizeof(T) - 1) / sizeof(T));
  return needs;
}

template <typename T>
typename Watch<T>::Seen Watch<T>::load(StageSpace<T> space) {
  Seen seen;
  std::memcpy(&seen, space.block, sizeof(seen));
  return seen;
}

template <typename T>
void Watch<T>::begin(const RowBlock<T>& block, StageSpace<T> space) const {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const T unit = of_ == Of::scores ? block.score_unit : T{1};
  const Seen seen{block.batch, block.head, block.rows, kNone, 0, unit};
  std::memcpy(space.block, &seen, sizeof(seen));
}

template <typename T>
void Watch<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  T* const head = table_.head(tile.batch, tile.head);
  if (head == nullptr) return;
  Seen seen = load(space);
  seen.first = std::min(seen.first, tile.col);
  seen.last = std::max(seen.last, tile.col + tile.cols);
  std::memcpy(space.block, &seen, sizeof(seen));
  copy(tile, head + tile.col, table_.keys, table_.row_slots + tile.row, seen.unit);
}

template <typename T>
void Watch<T>::backward(const Tile<T>& /*gradient*/, StageSpace<T> /*space*/) const {}

template <typename T>
void Watch<T>::scale(const Seen& seen, std::int64_t row, const T* factors) const {
  T* const head = table_.head(seen.batch, seen.head);
  if (head == nullptr || seen.first >= seen.last) return;
  for (std::int64_t r = 0; r < seen.rows; ++r) {
    T* const x = table_.row(head, row + r);
    if (x == nullptr || factors[r] == T{1}) continue;
    multiply(x + seen.first, seen.last - seen.first, factors[r]);
  }
}

template <typename T>
void ScoreWatch<T>::end(const RowBlock<T>& block, StageSpace<T> space) const {
  const auto seen = this->load(space);
  T* const head = this->table_.head(block.batch, block.head);
  if (mask_ == nullptr || head == nullptr || seen.first >= seen.last) return;
  const std::int64_t n = seen.last - seen.first;
  const Scratch<std::uint8_t> visible(n);
  for (std::int64_t r = block.row; r < block.row + block.rows; ++r) {
    T* const x = this->table_.row(head, r);
    if (x == nullptr) continue;
    mask_->fill({block.batch, block.head, r, 1, seen.first, n}, visible.data(), 1);
    for (std::int64_t i = 0; i < n; ++i) {
      if (visible[i] == 0) x[seen.first + i] = -std::numeric_limits<T>::infinity();
    }
  }
}

template <typename T>
void WeightWatch<T>::rescale(const T* factors, StageSpace<T> space) const {
  this->scale(this->load(space), space.row, factors);
}

template <typename T>
void WeightWatch<T>::end(const RowBlock<T>& block, StageSpace<T> space) const {
  if (block.row_factors == nullptr) return;  // parts are closed one by one
  this->scale(this->load(space), block.row, block.row_factors);
}

template <typename T>
void WeightWatch<T>::close_part(const RowPart& part, T factor) const {
  T* const head = this->table_.head(part.batch, part.head);
  T* const row = head == nullptr ? nullptr : this->table_.row(head, part.row);
  if (row != nullptr) multiply(row + part.col, part.cols, factor);
}

template class ScoreWatch<float>;
template class ScoreWatch<double>;
template class WeightWatch<float>;
template class WeightWatch<double>;

}  // namespace heed::kernels
#endif  // HWY_ONCE
