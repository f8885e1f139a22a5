#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/attention/stages/soft_cap.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include <cmath>

#include "heed/kernels/attention/stages/soft_cap.h"
#include "heed/kernels/attention/stages/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

// tanh x = x p(x^2) / q(x^2), relative error 2e-7: fourteen instructions and a division, while Tanh
// of math-inl.h, which uses the exponential, and the factors around it take twenty. From 8.2 on the
// result is constant, 1 - 1.5e-7. The coefficients of p contain the cap. tools/fit_polynomials.py
// computes the polynomials.
HWY_INLINE VF cap_score(VF score, float cap, float inverse_cap) {
  const F32 d;
  constexpr float kFlat = 8.2f;
  const VF scaled = hn::Mul(score, hn::Set(d, inverse_cap));
  const VF x = math::AtLeast(d, math::AtMost(d, scaled, kFlat), -kFlat);
  const VF x2 = hn::Mul(x, x);
  const VF p = Polynomial(d, x2, cap, cap * 0.134321496f, cap * 0.00355671812f,
                          cap * 2.16377848e-05f, cap * 1.48412367e-08f);
  const VF q =
      Polynomial(d, x2, 1.0f, 0.467654765f, 0.0261084214f, 0.000338649261f, 8.37088805e-07f);
  return hn::Div(hn::Mul(x, p), q);
}

// `saved` receives a copy of the result unless it is null.
void cap_tile(Tile<float> tile, float cap, float* saved) {
  const F32 d;
  const float inverse = 1.0f / cap;
  for_each_vector(tile, [&](std::int64_t at) HWY_ATTR {
    const VF y = cap_score(hn::Load(d, tile.data + at), cap, inverse);
    hn::Store(y, d, tile.data + at);
    if (saved != nullptr) hn::Store(y, d, saved + at);
  });
}

// A gradient of 0 stays 0 even if the score was NaN, because the key may be hidden.
void cap_gradient(Tile<float> gradient, float cap, const float* saved) {
  const F32 d;
  const VF inverse = hn::Set(d, 1.0f / cap);
  for_each_vector(gradient, [&](std::int64_t at) HWY_ATTR {
    const VF y = hn::Mul(hn::Load(d, saved + at), inverse);
    const VF dy = hn::Load(d, gradient.data + at);
    const VF dx = hn::Mul(dy, hn::NegMulAdd(y, y, hn::Set(d, 1.0f)));
    hn::Store(hn::IfThenElseZero(hn::Ne(dy, hn::Zero(d)), dx), d, gradient.data + at);
  });
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {
namespace {

HWY_EXPORT(cap_tile);
HWY_EXPORT(cap_gradient);

void cap_scores(const Tile<float>& tile, float cap, float* saved) {
  HEED_DISPATCH(cap_tile)(tile, cap, saved);
}
void cap_scores(const Tile<double>& tile, double cap, double* saved) {
  for (std::int64_t c = 0; c < tile.cols; ++c) {
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const double y = cap * std::tanh(tile.at(c, r) / cap);
      tile.at(c, r) = y;
      if (saved != nullptr) saved[c * tile.stride + r] = y;
    }
  }
}

void cap_backward(const Tile<float>& gradient, float cap, const float* saved) {
  HEED_DISPATCH(cap_gradient)(gradient, cap, saved);
}
void cap_backward(const Tile<double>& gradient, double cap, const double* saved) {
  for (std::int64_t c = 0; c < gradient.cols; ++c) {
    for (std::int64_t r = 0; r < gradient.rows; ++r) {
      const double y = saved[c * gradient.stride + r] / cap;
      double& dx = gradient.at(c, r);
      if (dx != 0.0) dx *= 1.0 - y * y;
    }
  }
}

}  // namespace

template <typename T>
void SoftCap<T>::forward(const Tile<T>& tile, StageSpace<T> space) const {
  cap_scores(tile, cap_, space.saved);
}

template <typename T>
void SoftCap<T>::backward(const Tile<T>& gradient, StageSpace<T> space) const {
  cap_backward(gradient, cap_, space.saved);
}

template class SoftCap<float>;
template class SoftCap<double>;

}  // namespace heed::kernels
#endif  // HWY_ONCE
