// Loops over the vectors of a tile, for stages. Functions with such loops take their tile by value:
// a store of a vector may alias any memory except a local copy, so the fields of the copy stay in
// registers.
#if defined(HEED_KERNELS_ATTENTION_STAGES_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_STAGES_TILE_INL_H_
#undef HEED_KERNELS_ATTENTION_STAGES_TILE_INL_H_
#else
#define HEED_KERNELS_ATTENTION_STAGES_TILE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "heed/kernels/attention/product-inl.h"
#include "heed/kernels/attention/tile.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Number of queries in the vector that begins at row r; the other lanes are padding.
HWY_INLINE std::int64_t lanes_at(const Tile<float>& tile, std::int64_t r) {
  return std::min(kLanes, tile.rows - r);
}

/// The same as a mask, for sums over queries, where padding must not count.
HWY_INLINE hn::Mask<F32> rows_at(const Tile<float>& tile, std::int64_t r) {
  return hn::FirstN(F32(), static_cast<std::size_t>(lanes_at(tile, r)));
}

/// Calls f(at) with the offset of every vector from the start of the tile.
template <typename F>
HWY_INLINE void for_each_vector(const Tile<float>& tile, const F& f) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; r += kLanes) f(c * tile.stride + r);
  }
}

/// A square of kLanes x kLanes at key c, query r; `keys` and `rows` of it are inside the tile.
struct Square {
  std::int64_t c, r, keys, rows;
  bool whole() const { return keys == kLanes && rows == kLanes; }
};

/// Calls f(square) for all squares of a tile.
template <typename F>
HWY_INLINE void for_each_square(const Tile<float>& tile, const F& f) {
  for (std::int64_t r = 0; r < tile.rows; r += kLanes) {
    for (std::int64_t c = 0; c < tile.cols; c += kLanes) {
      f(Square{c, r, std::min(kLanes, tile.cols - c), lanes_at(tile, r)});
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
