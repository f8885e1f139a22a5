#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/stages/gumbel.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <algorithm>
#include <cmath>

#include "heed/kernels/attention/stages/gumbel.h"
#include "heed/kernels/attention/stages/query_philox-inl.h"
#include "heed/kernels/attention/stages/query_random.h"
#include "heed/kernels/attention/stages/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// -log(-log(1 - w)) of w in (0, 1). The largest noise comes from a small w, which 1 - w would round
// away; log(1 - w) w / (1 - (1 - w)) corrects that.
HWY_INLINE VF noise_of(hn::Vec<QueryPhilox::U32> bits) {
  const F32 d;
  const VF one = hn::Set(d, 1.0f);
  const VF drawn = hn::MulAdd(hn::ConvertTo(d, bits), hn::Set(d, 0x1p-32f), hn::Set(d, 0x1p-33f));
  const VF w = hn::Min(drawn, hn::Set(d, 1.0f - 0x1p-24f));
  const VF rest = hn::Sub(one, w);
  const VF rounded = hn::Sub(one, rest);
  const VF log = hn::Div(hn::Mul(Log(d, rest), w), rounded);
  const VF exponential = hn::IfThenElse(hn::Eq(rest, one), w, hn::Neg(log));
  return hn::Neg(Log(d, exponential));
}

void add_noise(Tile<float> tile, RandomStream head) {
  const F32 d;
  QueryPhilox random(head);
  const std::int64_t end = tile.col + tile.cols;
  for (std::int64_t r = 0; r < tile.rows; r += kLanes) {
    random.start(tile.row + r);
    for (std::int64_t group = tile.col / kNoiseKeys; group * kNoiseKeys < end; ++group) {
      const QueryPhilox::Words words = random.words(group);
#pragma GCC unroll 4
      for (int i = 0; i < kNoiseKeys; ++i) {
        const std::int64_t c = group * kNoiseKeys - tile.col + i;
        if (c < 0 || c >= tile.cols) continue;
        float* const x = tile.key(c) + r;
        hn::Store(hn::Add(hn::Load(d, x), noise_of(words.word[i])), d, x);
      }
    }
  }
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(add_noise);

void add(const Tile<float>& tile, RandomStream head) { HEED_DISPATCH(add_noise)(tile, head); }
void add(const Tile<double>& tile, RandomStream head) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      tile.at(c, r) += gumbel_noise(head, tile.row + r, tile.col + c);
    }
  }
}

}  // namespace

double gumbel_noise(RandomStream head, std::int64_t query, std::int64_t key) {
  const auto words = query_words(head, query, key / kNoiseKeys);
  const auto bits = static_cast<float>(words[static_cast<std::size_t>(key % kNoiseKeys)]);
  const float w =
      std::min(bits * 0x1p-32f + 0x1p-33f, 1.0f - 0x1p-24f);  // in f32, like the vectors
  return -std::log(-std::log1p(-static_cast<double>(w)));
}

template <typename T>
void GumbelNoise<T>::forward(const Tile<T>& tile, StageSpace<T> /*space*/) const {
  add(tile, random_of_head(random_, tile.batch, tile.head));
}

template <typename T>
void GumbelNoise<T>::backward(const Tile<T>& gradient, StageSpace<T> /*space*/) const {
  if (gradient_ == NoiseGradient::passes) return;
  for (std::int64_t c = 0; c < gradient.cols; ++c) {
    std::fill_n(gradient.key(c), gradient.rows, T{0});
  }
}

template class GumbelNoise<float>;
template class GumbelNoise<double>;

}  // namespace heed::kernels
#endif  // HWY_ONCE
