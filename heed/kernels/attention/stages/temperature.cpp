#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/stages/temperature.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include "heed/kernels/attention/stages/add_up.h"
#include "heed/kernels/attention/stages/temperature.h"
#include "heed/kernels/attention/stages/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// `saved` receives the tile before the change, unless it is null.
void scale_tile(Tile<float> tile, float factor, float* saved) {
  const F32 d;
  for_each_vector(tile, [&](std::int64_t at) HWY_ATTR {
    const VF x = hn::Load(d, tile.data + at);
    if (saved != nullptr) hn::Store(x, d, saved + at);
    hn::Store(hn::Mul(x, hn::Set(d, factor)), d, tile.data + at);
  });
}

// The sum of gradient * saved. Elements with a gradient of 0 contribute nothing, even if they are
// NaN: the key may be hidden.
float factor_gradient(Tile<float> gradient, const float* saved) {
  const F32 d;
  VF total = hn::Zero(d);
  for (std::int64_t r = 0; r < gradient.rows; r += kLanes) {
    const auto rows = rows_at(gradient, r);
    VF sum = hn::Zero(d);
    for (std::int64_t c = 0; c < gradient.cols; ++c) {
      const VF dy = hn::Load(d, gradient.key(c) + r);
      const VF more = hn::Mul(dy, hn::Load(d, saved + c * gradient.stride + r));
      sum = hn::Add(sum, hn::IfThenElseZero(hn::Ne(dy, hn::Zero(d)), more));
    }
    total = hn::Add(total, hn::IfThenElseZero(rows, sum));
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(scale_tile);
HWY_EXPORT(factor_gradient);

void scale(const Tile<float>& tile, float factor, float* saved) {
  HEED_DISPATCH(scale_tile)(tile, factor, saved);
}
void scale(const Tile<double>& tile, double factor, double* saved) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      if (saved != nullptr) saved[c * tile.stride + r] = tile.at(c, r);
      tile.at(c, r) *= factor;
    }
  }
}

float d_factor(const Tile<float>& gradient, const float* saved) {
  return HEED_DISPATCH(factor_gradient)(gradient, saved);
}
double d_factor(const Tile<double>& gradient, const double* saved) {
  double total = 0.0;
  for (std::int64_t c = 0; c < gradient.cols; ++c) {
    for (std::int64_t r = 0; r < gradient.rows; ++r) {
      const double dy = gradient.at(c, r);
      if (dy != 0.0) total += dy * saved[c * gradient.stride + r];
    }
  }
  return total;
}

}  // namespace

template <typename T>
StageNeeds Temperature<T>::needs(std::int64_t /*rows*/, bool backward) const {
  StageNeeds needs;
  if (backward && factors_.gradient != nullptr) {
    needs.saved = true;
    needs.sums = 1;
  }
  return needs;
}

template <typename T>
void Temperature<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  scale(tile, factor(tile), space.saved);
}

template <typename T>
void Temperature<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  if (factors_.gradient != nullptr) *space.sums += d_factor(gradient, space.saved);
  scale(gradient, factor(gradient), static_cast<T*>(nullptr));
}

template <typename T>
void Temperature<T>::finish(const StageSums<T>& sums) const {
  if (factors_.gradient == nullptr) return;
  add_up(sums, 1, [this](std::int64_t, std::int64_t h, std::int64_t) -> T& {
    return factors_.gradient[h * factors_.head_stride];
  });
}

template class Temperature<float>;
template class Temperature<double>;

}  // namespace heed::kernels
#endif  // HWY_ONCE
