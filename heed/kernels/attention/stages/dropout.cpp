#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/stages/dropout.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/kernels/attention/stages/dropout.h"
#include "heed/kernels/attention/stages/query_philox-inl.h"
#include "heed/kernels/attention/stages/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// The multipliers for the weights of a group of keys and a vector of queries. A word has the bits
// of two keys; each is compared in the upper half of a word.
HWY_INLINE void multipliers(const QueryPhilox::Words& words, const WeightMask& mask,
                            VF (&x)[kMaskKeys]) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const auto limit = hn::Set(di, mask.least * 65536);
  const VF factor = hn::Set(d, static_cast<float>(mask.scale));
#pragma GCC unroll 4
  for (int w = 0; w < 4; ++w) {
    const auto odd = hn::BitCast(di, words.word[w]);
    const auto even = hn::ShiftLeft<16>(odd);
    x[2 * w] = hn::IfThenZeroElse(hn::RebindMask(d, hn::Lt(even, limit)), factor);
    x[2 * w + 1] = hn::IfThenZeroElse(hn::RebindMask(d, hn::Lt(odd, limit)), factor);
  }
}

// weights *= x; x is also stored in `saved`, unless that is null: storing and loading it costs a
// third of computing it again.
HWY_INLINE void apply(VF x, float* weights, float* saved) {
  const F32 d;
  hn::Store(hn::Mul(hn::Load(d, weights), x), d, weights);
  if (saved != nullptr) hn::Store(x, d, saved);
}

void drop_weights(Tile<float> tile, WeightMask mask, RandomStream head, float* saved) {
  const F32 d;
  QueryPhilox random(head);
  const auto apply_at = [&](std::int64_t c, std::int64_t r, VF x) HWY_ATTR {
    const std::int64_t at = c * tile.stride + r;
    apply(x, tile.data + at, saved == nullptr ? nullptr : saved + at);
  };
  const std::int64_t end = tile.col + tile.cols;
  for (std::int64_t r = 0; r < tile.rows; r += kLanes) {
    random.start(tile.row + r);
    for (std::int64_t group = tile.col / kMaskKeys; group * kMaskKeys < end; ++group) {
      VF x[kMaskKeys];
      multipliers(random.words(group), mask, x);
      const std::int64_t c = group * kMaskKeys - tile.col;
      if (c >= 0 && c + kMaskKeys <= tile.cols) {
#pragma GCC unroll 8
        for (int i = 0; i < kMaskKeys; ++i) apply_at(c + i, r, x[i]);
        continue;
      }
      HWY_ALIGN float some[kMaskKeys * kLanes];  // so that x stays in registers above
#pragma GCC unroll 8
      for (int i = 0; i < kMaskKeys; ++i) hn::Store(x[i], d, some + i * kLanes);
      const std::int64_t to = std::min(kMaskKeys, tile.cols - c);
      for (std::int64_t i = std::max<std::int64_t>(0, -c); i < to; ++i) {
        apply_at(c + i, r, hn::Load(d, some + i * kLanes));
      }
    }
  }
}

void multiply_tile(Tile<float> tile, const float* by) {
  const F32 d;
  for_each_vector(tile, [&](std::int64_t at) HWY_ATTR {
    float* const x = tile.data + at;
    hn::Store(hn::Mul(hn::Load(d, x), hn::Load(d, by + at)), d, x);
  });
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(drop_weights);
HWY_EXPORT(multiply_tile);

void drop(const Tile<float>& tile, const WeightMask& mask, float* saved) {
  HEED_DISPATCH(drop_weights)(tile, mask, mask.of_head(tile.batch, tile.head), saved);
}
void drop(const Tile<double>& tile, const WeightMask& mask, double* saved) {
  const RandomStream head = mask.of_head(tile.batch, tile.head);
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const bool keep = weight_dropout_keeps(mask, head, tile.row + r, tile.col + c);
      const double by = keep ? mask.scale : 0.0;
      tile.at(c, r) *= by;
      if (saved != nullptr) saved[c * tile.stride + r] = by;
    }
  }
}

void multiply(const Tile<float>& tile, const float* by) { HEED_DISPATCH(multiply_tile)(tile, by); }
void multiply(const Tile<double>& tile, const double* by) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) tile.at(c, r) *= by[c * tile.stride + r];
  }
}

}  // namespace

WeightMask::WeightMask(RandomStream stream, double p) : random(stream) {
  HEED_ASSERT(p >= 0.0 && p < 1.0);
  const double dropped = std::min(std::round(p * 65536.0), 65535.0);
  least = static_cast<std::int32_t>(dropped) - 32768;
  scale = 65536.0 / (65536.0 - dropped);
}

bool weight_dropout_keeps(const WeightMask& mask, RandomStream head, std::int64_t query,
                          std::int64_t key) {
  const auto words = query_words(head, query, key / kMaskKeys);
  const auto i = static_cast<std::size_t>(key % kMaskKeys);
  return static_cast<std::int16_t>(words[i / 2] >> (i % 2 * 16)) >= mask.least;
}

template <typename T>
void WeightDropout<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  drop(tile, mask_, space.saved);
}

template <typename T>
void WeightDropout<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  multiply(gradient, space.saved);
}

template class WeightDropout<float>;
template class WeightDropout<double>;

}  // namespace heed::kernels
#endif  // HWY_ONCE
