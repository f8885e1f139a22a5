#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/stages/gaussian.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <cmath>

#include "heed/kernels/attention/stages/add_up.h"
#include "heed/kernels/attention/stages/gaussian.h"
#include "heed/kernels/attention/stages/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// One number for each query of a vector; lanes after the tile's last query are 0.
HWY_INLINE VF load_rows(const Tile<float>& tile, const float* of_rows, std::int64_t r) {
  const std::int64_t n = lanes_at(tile, r);
  if (n == kLanes) return hn::LoadU(F32(), of_rows + r);
  return LoadFirst(F32(), of_rows + r, static_cast<std::size_t>(n));
}

HWY_INLINE void store_rows(const Tile<float>& tile, VF x, float* of_rows, std::int64_t r) {
  const std::int64_t n = lanes_at(tile, r);
  if (n == kLanes) return hn::StoreU(x, F32(), of_rows + r);
  StoreFirst(x, F32(), of_rows + r, static_cast<std::size_t>(n));
}

// The distance of a key from the centres of a vector of queries, and the factors of its weights.
struct Bell {
  VF distance, height;

  HWY_INLINE Bell(std::int64_t key, VF centre, float falloff)
      : distance(hn::Sub(hn::Set(F32(), static_cast<float>(key)), centre)),
        height(Exp(F32(), hn::Mul(hn::Mul(distance, distance), hn::Set(F32(), -falloff)))) {}
};

// `saved` receives the weights before the change, unless it is null.
void fade_tile(Tile<float> tile, const float* centres, float falloff, float* saved) {
  const F32 d;
  for (std::int64_t r = 0; r < tile.rows; r += kLanes) {
    const VF centre = load_rows(tile, centres, r);
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      const Bell bell(tile.col + c, centre, falloff);
      const std::int64_t at = c * tile.stride + r;
      const VF x = hn::Load(d, tile.data + at);
      if (saved != nullptr) hn::Store(x, d, saved + at);
      hn::Store(hn::Mul(x, bell.height), d, tile.data + at);
    }
  }
}

// `saved` and `sums`, the gradient of centres, are both null or both not. A weight of 0 contributes
// nothing, whatever its gradient: its key may be hidden.
void fade_gradient(Tile<float> gradient, const float* centres, float falloff, const float* saved,
                   float* sums) {
  const F32 d;
  for (std::int64_t r = 0; r < gradient.rows; r += kLanes) {
    const VF centre = load_rows(gradient, centres, r);
    VF sum = hn::Zero(d);
    for (std::int64_t c = 0; c < gradient.cols; ++c) {
      const Bell bell(gradient.col + c, centre, falloff);
      const std::int64_t at = c * gradient.stride + r;
      const VF dx = hn::Mul(hn::Load(d, gradient.data + at), bell.height);
      hn::Store(dx, d, gradient.data + at);
      if (saved == nullptr) continue;
      const VF x = hn::Load(d, saved + at);
      const VF more = hn::Mul(hn::Mul(dx, x), bell.distance);
      sum = hn::Add(sum, hn::IfThenElseZero(hn::Ne(x, hn::Zero(d)), more));
    }
    if (saved == nullptr) continue;
    const VF before = load_rows(gradient, sums, r);
    store_rows(gradient, hn::MulAdd(sum, hn::Set(d, 2 * falloff), before), sums, r);
  }
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(fade_tile);
HWY_EXPORT(fade_gradient);

void fade(const Tile<float>& tile, const float* centres, float falloff, float* saved) {
  HEED_DISPATCH(fade_tile)(tile, centres, falloff, saved);
}
void fade(const Tile<double>& tile, const double* centres, double falloff, double* saved) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const double distance = static_cast<double>(tile.col + c) - centres[r];
      if (saved != nullptr) saved[c * tile.stride + r] = tile.at(c, r);
      tile.at(c, r) *= std::exp(-distance * distance * falloff);
    }
  }
}

void fade_back(const Tile<float>& gradient, const float* centres, float falloff, const float* saved,
               float* sums) {
  HEED_DISPATCH(fade_gradient)(gradient, centres, falloff, saved, sums);
}
void fade_back(const Tile<double>& gradient, const double* centres, double falloff,
               const double* saved, double* sums) {
  for (std::int64_t c = 0; c < gradient.cols; ++c) {
    for (std::int64_t r = 0; r < gradient.rows; ++r) {
      const double distance = static_cast<double>(gradient.col + c) - centres[r];
      gradient.at(c, r) *= std::exp(-distance * distance * falloff);
      if (saved == nullptr) continue;
      const double x = saved[c * gradient.stride + r];
      if (x != 0.0) sums[r] += 2 * falloff * gradient.at(c, r) * x * distance;
    }
  }
}

}  // namespace

template <typename T>
StageNeeds Gaussian<T>::needs(std::int64_t /*rows*/, bool backward) const {
  StageNeeds needs;
  if (backward && learned()) {
    needs.saved = true;
    needs.sums = centres_.rows;
  }
  return needs;
}

template <typename T>
void Gaussian<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  fade(tile, centres(tile), centres_.falloff, space.saved);
}

template <typename T>
void Gaussian<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  T* const sums = learned() ? space.sums + gradient.row : nullptr;
  fade_back(gradient, centres(gradient), centres_.falloff, space.saved, sums);
}

template <typename T>
void Gaussian<T>::finish(const StageSums<T>& sums) const {
  if (!learned()) return;
  add_up(sums, centres_.rows, [this](std::int64_t b, std::int64_t h, std::int64_t i) -> T& {
    return centres_.gradient.at(b, h)[i];
  });
}

template class Gaussian<float>;
template class Gaussian<double>;

}  // namespace heed::kernels
#endif  // HWY_ONCE
