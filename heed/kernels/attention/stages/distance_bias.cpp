#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/stages/distance_bias.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>

#include "heed/kernels/attention/stages/add_up.h"
#include "heed/kernels/attention/stages/distance_bias.h"
#include "heed/kernels/attention/stages/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// `table` points to the distance of the tile's first query and key; the next key is at the index
// before it.
void add_distances(Tile<float> tile, const float* table) {
  const F32 d;
  for (std::int64_t r = 0; r < tile.rows; r += kLanes) {
    const std::int64_t n = lanes_at(tile, r);
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      float* const x = tile.key(c) + r;
      const float* const bias = table + r - c;
      const VF more =
          n == kLanes ? hn::LoadU(d, bias) : LoadFirst(d, bias, static_cast<std::size_t>(n));
      hn::Store(hn::Add(hn::Load(d, x), more), d, x);
    }
  }
}

// sums[r - c] += the tile at (c, r). The next key moves the index by one element: two neighbouring
// keys would write overlapping vectors, and each load would wait for the store before it. Keys that
// are one vector apart add to the same place, one vector of queries further, so these are summed in
// a register.
void sum_distances(Tile<float> tile, float* sums) {
  const F32 d;
  const std::int64_t vectors = (tile.rows + kLanes - 1) / kLanes;
  const auto last = rows_at(tile, (vectors - 1) * kLanes);
  for (std::int64_t first = 0; first < std::min(kLanes, tile.cols); ++first) {
    const std::int64_t keys = (tile.cols - first + kLanes - 1) / kLanes;
    for (std::int64_t place = 1 - keys; place < vectors; ++place) {
      const std::int64_t from = std::max<std::int64_t>(0, -place);
      const std::int64_t to = std::min(keys, vectors - place);
      float* const sum = sums + place * kLanes - first;
      VF total = hn::LoadU(d, sum);
      for (std::int64_t k = from; k < to; ++k) {
        const std::int64_t v = place + k;
        const VF x = hn::Load(d, tile.key(first + k * kLanes) + v * kLanes);
        total = hn::Add(total, v == vectors - 1 ? hn::IfThenElseZero(last, x) : x);
      }
      hn::StoreU(total, d, sum);
    }
  }
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(add_distances);
HWY_EXPORT(sum_distances);

// The last vector of queries may extend this far past the end of the table.
constexpr std::int64_t kPadding = 16;

void add(const Tile<float>& tile, const float* table) { HEED_DISPATCH(add_distances)(tile, table); }
void add(const Tile<double>& tile, const double* table) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) tile.at(c, r) += table[r - c];
  }
}

void sum(const Tile<float>& tile, float* sums) { HEED_DISPATCH(sum_distances)(tile, sums); }
void sum(const Tile<double>& tile, double* sums) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) sums[r - c] += tile.at(c, r);
  }
}

}  // namespace

template <typename T>
StageNeeds DistanceBias<T>::needs(std::int64_t /*rows*/, bool backward) const {
  StageNeeds needs;
  if (backward && table_.gradient != nullptr) needs.sums = table_.length + kPadding;
  return needs;
}

template <typename T>
void DistanceBias<T>::forward(const Tile<T>& tile, StageSpace<T> /*space*/) const {
  add(tile, table_.values + tile.head * table_.head_stride + index(tile));
}

template <typename T>
void DistanceBias<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  if (table_.gradient != nullptr) sum(gradient, space.sums + index(gradient));
}

template <typename T>
void DistanceBias<T>::finish(const StageSums<T>& sums) const {
  if (table_.gradient == nullptr) return;
  add_up(sums, table_.length, [this](std::int64_t, std::int64_t h, std::int64_t i) -> T& {
    return table_.gradient[h * table_.head_stride + i];
  });
}

template class DistanceBias<float>;
template class DistanceBias<double>;

}  // namespace heed::kernels
#endif  // HWY_ONCE
