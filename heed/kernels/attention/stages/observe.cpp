#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/stages/observe.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cstring>
#include <limits>

#include "heed/base/arena.h"
#include "heed/kernels/attention/stages/observe.h"
#include "heed/kernels/attention/stages/tile-inl.h"
#include "heed/kernels/attention/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

bool any_observed(const std::int32_t* slots, std::int64_t rows) {
  return std::any_of(slots, slots + rows, [](std::int32_t slot) { return slot >= 0; });
}

// Writes the observed rows of a square; `to` is at the tile's first key.
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

// The same for a square that is partly outside the tile.
HWY_NOINLINE void copy_part(Tile<float> tile, RowsOf<float> to, const std::int32_t* slots,
                            Square at, float factor) {
  for (std::int64_t r = at.r; r < at.r + at.rows; ++r) {
    if (slots[r] < 0) continue;
    float* const row = to.row(slots[r]);
    for (std::int64_t c = at.c; c < at.c + at.keys; ++c) row[c] = tile.at(c, r) * factor;
  }
}

// slots[r] is the row of `to` for query r of the tile, or -1.
void copy_tile(Tile<float> tile, float* to, std::int64_t stride, const std::int32_t* slots,
               float factor) {
  for_each_square(tile, [&](const Square& at) HWY_ATTR {
    if (!any_observed(slots + at.r, at.rows)) return;
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

// The memory of a block holds a Copied, as bytes.
template <typename T>
StageNeeds ObserverStage<T>::needs(std::int64_t /*rows*/, bool /*backward*/) const {
  StageNeeds needs;
  needs.block = static_cast<std::int64_t>((sizeof(Copied) + sizeof(T) - 1) / sizeof(T));
  return needs;
}

template <typename T>
typename ObserverStage<T>::Copied ObserverStage<T>::load(StageSpace<T> space) {
  Copied copied;
  std::memcpy(&copied, space.block, sizeof(copied));
  return copied;
}

template <typename T>
void ObserverStage<T>::begin(const RowBlock<T>& block, StageSpace<T> space) const {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const T unit = of_ == Of::scores ? block.score_unit : T{1};
  const Copied copied{block.batch, block.head, block.rows, kNone, 0, unit};
  std::memcpy(space.block, &copied, sizeof(copied));
}

template <typename T>
void ObserverStage<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  T* const head = table_.head(tile.batch, tile.head);
  if (head == nullptr) return;
  Copied copied = load(space);
  copied.first = std::min(copied.first, tile.col);
  copied.last = std::max(copied.last, tile.col + tile.cols);
  std::memcpy(space.block, &copied, sizeof(copied));
  copy(tile, head + tile.col, table_.keys, table_.row_slots + tile.row, copied.unit);
}

template <typename T>
void ObserverStage<T>::backward(const Tile<T>& /*gradient*/, StageSpace<T> /*space*/) const {}

template <typename T>
void ObserverStage<T>::scale(const Copied& copied, std::int64_t row, const T* factors) const {
  T* const head = table_.head(copied.batch, copied.head);
  if (head == nullptr || copied.first >= copied.last) return;
  for (std::int64_t r = 0; r < copied.rows; ++r) {
    T* const x = table_.row(head, row + r);
    if (x == nullptr || factors[r] == T{1}) continue;
    multiply(x + copied.first, copied.last - copied.first, factors[r]);
  }
}

template <typename T>
void ScoreObserver<T>::end(const RowBlock<T>& block, StageSpace<T> space) const {
  const auto copied = this->load(space);
  T* const head = this->table_.head(block.batch, block.head);
  if (mask_ == nullptr || head == nullptr || copied.first >= copied.last) return;
  const std::int64_t n = copied.last - copied.first;
  const Scratch<std::uint8_t> visible(n);
  for (std::int64_t r = block.row; r < block.row + block.rows; ++r) {
    T* const x = this->table_.row(head, r);
    if (x == nullptr) continue;
    mask_->fill({block.batch, block.head, r, 1, copied.first, n}, visible.data(), 1);
    for (std::int64_t i = 0; i < n; ++i) {
      if (visible[i] == 0) x[copied.first + i] = -std::numeric_limits<T>::infinity();
    }
  }
}

template <typename T>
void WeightObserver<T>::rescale(const T* factors, StageSpace<T> space) const {
  this->scale(this->load(space), space.row, factors);
}

template <typename T>
void WeightObserver<T>::end(const RowBlock<T>& block, StageSpace<T> space) const {
  if (block.row_factors == nullptr) return;  // parts are closed one by one
  this->scale(this->load(space), block.row, block.row_factors);
}

template <typename T>
void WeightObserver<T>::close_part(const RowPart& part, T factor) const {
  T* const head = this->table_.head(part.batch, part.head);
  T* const row = head == nullptr ? nullptr : this->table_.row(head, part.row);
  if (row != nullptr) multiply(row + part.col, part.cols, factor);
}

template <typename T>
void WeightObserver<T>::copy_row(const RowPart& part, const T* weights) const {
  T* const head = this->table_.head(part.batch, part.head);
  T* const row = head == nullptr ? nullptr : this->table_.row(head, part.row);
  if (row != nullptr) std::copy_n(weights, part.cols, row + part.col);
}

template class ScoreObserver<float>;
template class ScoreObserver<double>;
template class WeightObserver<float>;
template class WeightObserver<double>;

}  // namespace heed::kernels
#endif  // HWY_ONCE
