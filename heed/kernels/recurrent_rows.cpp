#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/recurrent_rows.cpp"
#include "heed/kernels/foreach_target.h"  // must come before simd.h

#include "heed/kernels/math-inl.h"
#include "heed/kernels/recurrent_rows.h"
#include "heed/kernels/reference/recurrent_rows.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

using F32 = hn::ScalableTag<float>;
using V = hn::Vec<F32>;

// One vector of positions: `count` lanes from position `at`; fewer than a whole vector only at the
// end of a row.
struct Lanes {
  std::int64_t at;
  std::size_t count;
  V load(const float* p) const {
    const F32 d;
    return count == hn::Lanes(d) ? hn::LoadU(d, p + at) : LoadFirst(d, p + at, count);
  }
  void store(V v, float* p) const {
    const F32 d;
    if (count == hn::Lanes(d)) {
      hn::StoreU(v, d, p + at);
    } else {
      StoreFirst(v, d, p + at, count);
    }
  }
};

template <typename F>
HWY_INLINE void for_lanes(std::int64_t n, const F& f) {
  const auto width = static_cast<std::int64_t>(hn::Lanes(F32()));
  std::int64_t at = 0;
  for (; at + width <= n; at += width) f(Lanes{at, static_cast<std::size_t>(width)});
  if (at < n) f(Lanes{at, static_cast<std::size_t>(n - at)});
}

HWY_INLINE V one() { return hn::Set(F32(), 1.0f); }
// y (1 - y) and 1 - y^2: the slopes of sigmoid and tanh from their values.
HWY_INLINE V sigmoid_slope(V y) { return hn::NegMulAdd(y, y, y); }
HWY_INLINE V tanh_slope(V y) { return hn::NegMulAdd(y, y, one()); }

// The hidden state's share of a gate, with its bias.
HWY_INLINE V hidden_share(Lanes l, const StepForward<float>& s, std::int64_t from) {
  return hn::Add(l.load(s.hidden_share + from), l.load(s.bias + from));
}
HWY_INLINE V total(Lanes l, const StepForward<float>& s, std::int64_t from) {
  return hn::Add(l.load(s.gates + from), hidden_share(l, s, from));
}

void gru_forward(std::int64_t n, const StepForward<float>& s) {
  for_lanes(n, [&](Lanes l) HWY_ATTR {
    const F32 d;
    const V r = Sigmoid(d, total(l, s, 0));
    const V z = Sigmoid(d, total(l, s, n));
    const V u = hidden_share(l, s, 2 * n);
    const V c = Tanh(d, hn::MulAdd(r, u, l.load(s.gates + 2 * n)));
    l.store(r, s.saved);
    l.store(z, s.saved + n);
    l.store(c, s.saved + 2 * n);
    l.store(u, s.saved + 3 * n);
    l.store(hn::MulAdd(z, hn::Sub(l.load(s.state), c), c), s.state);
  });
}

void gru_backward(std::int64_t n, const StepBackward<float>& s) {
  for_lanes(n, [&](Lanes l) HWY_ATTR {
    const V r = l.load(s.saved);
    const V z = l.load(s.saved + n);
    const V c = l.load(s.saved + 2 * n);
    const V u = l.load(s.saved + 3 * n);
    const V dh = l.load(s.d_state);
    const V dc = hn::Mul(hn::Mul(dh, hn::Sub(one(), z)), tanh_slope(c));
    const V dr = hn::Mul(hn::Mul(dc, u), sigmoid_slope(r));
    const V dz = hn::Mul(hn::Mul(dh, hn::Sub(l.load(s.previous_state), c)), sigmoid_slope(z));
    l.store(dr, s.d_gates);
    l.store(dz, s.d_gates + n);
    l.store(dc, s.d_gates + 2 * n);
    l.store(dr, s.d_hidden_gates);
    l.store(dz, s.d_hidden_gates + n);
    l.store(hn::Mul(dc, r), s.d_hidden_gates + 2 * n);
    l.store(hn::Mul(dh, z), s.d_state);
  });
}

void lstm_forward(std::int64_t n, const StepForward<float>& s) {
  for_lanes(n, [&](Lanes l) HWY_ATTR {
    const F32 d;
    const V i = Sigmoid(d, total(l, s, 0));
    const V f = Sigmoid(d, total(l, s, n));
    const V g = Tanh(d, total(l, s, 2 * n));
    const V o = Sigmoid(d, total(l, s, 3 * n));
    const V c = hn::MulAdd(f, l.load(s.cell), hn::Mul(i, g));
    l.store(i, s.saved);
    l.store(f, s.saved + n);
    l.store(g, s.saved + 2 * n);
    l.store(o, s.saved + 3 * n);
    l.store(c, s.saved + 4 * n);
    l.store(c, s.cell);
    l.store(hn::Mul(o, Tanh(d, c)), s.state);
  });
}

void lstm_backward(std::int64_t n, const StepBackward<float>& s) {
  for_lanes(n, [&](Lanes l) HWY_ATTR {
    const F32 d;
    const V i = l.load(s.saved);
    const V f = l.load(s.saved + n);
    const V g = l.load(s.saved + 2 * n);
    const V o = l.load(s.saved + 3 * n);
    const V t = Tanh(d, l.load(s.saved + 4 * n));
    const V dh = l.load(s.d_state);
    const V dc = hn::MulAdd(hn::Mul(dh, o), tanh_slope(t), l.load(s.d_cell));
    l.store(hn::Mul(hn::Mul(dc, g), sigmoid_slope(i)), s.d_gates);
    l.store(hn::Mul(hn::Mul(dc, l.load(s.previous_cell)), sigmoid_slope(f)), s.d_gates + n);
    l.store(hn::Mul(hn::Mul(dc, i), tanh_slope(g)), s.d_gates + 2 * n);
    l.store(hn::Mul(hn::Mul(dh, t), sigmoid_slope(o)), s.d_gates + 3 * n);
    l.store(hn::Mul(dc, f), s.d_cell);
    l.store(hn::Zero(d), s.d_state);
  });
}

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(gru_forward);
HWY_EXPORT(gru_backward);
HWY_EXPORT(lstm_forward);
HWY_EXPORT(lstm_backward);

void gru_step(std::int64_t n, const StepForward<float>& s) { HEED_DISPATCH(gru_forward)(n, s); }
void gru_step_backward(std::int64_t n, const StepBackward<float>& s) {
  HEED_DISPATCH(gru_backward)(n, s);
}
void lstm_step(std::int64_t n, const StepForward<float>& s) { HEED_DISPATCH(lstm_forward)(n, s); }
void lstm_step_backward(std::int64_t n, const StepBackward<float>& s) {
  HEED_DISPATCH(lstm_backward)(n, s);
}

void gru_step(std::int64_t n, const StepForward<double>& s) { reference::gru_step(n, s); }
void gru_step_backward(std::int64_t n, const StepBackward<double>& s) {
  reference::gru_step_backward(n, s);
}
void lstm_step(std::int64_t n, const StepForward<double>& s) { reference::lstm_step(n, s); }
void lstm_step_backward(std::int64_t n, const StepBackward<double>& s) {
  reference::lstm_step_backward(n, s);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
