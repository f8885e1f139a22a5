// The SIMD form of each elementwise operation: a struct with `apply`, and `slope` if it has a
// derivative. All of them propagate NaN, as the twins do.
#if defined(HEED_KERNELS_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ELEMENTWISE_INL_H_
#undef HEED_KERNELS_ELEMENTWISE_INL_H_
#else
#define HEED_KERNELS_ELEMENTWISE_INL_H_
#endif

#include "heed/kernels/math-inl.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F32 = hn::ScalableTag<float>;
using VF = hn::Vec<F32>;

HWY_INLINE VF splat(float value) { return hn::Set(F32(), value); }

struct NegOp {
  static HWY_INLINE VF apply(VF x) { return hn::Neg(x); }
  static HWY_INLINE VF slope(VF) { return splat(-1.0f); }
};
struct AbsOp {
  static HWY_INLINE VF apply(VF x) { return hn::Abs(x); }
  static HWY_INLINE VF slope(VF x) {
    const VF sign = hn::CopySign(splat(1.0f), x);
    return hn::IfThenZeroElse(hn::Eq(x, hn::Zero(F32())), sign);
  }
};
struct ExpOp {
  static HWY_INLINE VF apply(VF x) { return Exp(F32(), x); }
  static HWY_INLINE VF slope(VF y) { return y; }
};
struct LogOp {
  static HWY_INLINE VF apply(VF x) { return Log(F32(), x); }
  static HWY_INLINE VF slope(VF x) { return hn::Div(splat(1.0f), x); }
};
struct SqrtOp {
  static HWY_INLINE VF apply(VF x) { return hn::Sqrt(x); }
  static HWY_INLINE VF slope(VF y) { return hn::Div(splat(0.5f), y); }
};
struct RsqrtOp {
  static HWY_INLINE VF apply(VF x) { return hn::Div(splat(1.0f), hn::Sqrt(x)); }
  static HWY_INLINE VF slope(VF y) { return hn::Mul(splat(-0.5f), hn::Mul(y, hn::Mul(y, y))); }
};
struct SquareOp {
  static HWY_INLINE VF apply(VF x) { return hn::Mul(x, x); }
  static HWY_INLINE VF slope(VF x) { return hn::Add(x, x); }
};
struct ReciprocalOp {
  static HWY_INLINE VF apply(VF x) { return hn::Div(splat(1.0f), x); }
  static HWY_INLINE VF slope(VF y) { return hn::Neg(hn::Mul(y, y)); }
};
struct ReluOp {
  static HWY_INLINE VF apply(VF x) { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(F32())), x); }
  static HWY_INLINE VF slope(VF y) {
    return hn::IfThenElseZero(hn::Gt(y, hn::Zero(F32())), splat(1.0f));
  }
};
struct EluOp {
  static HWY_INLINE VF apply(VF x) {
    const VF below = hn::Sub(Exp(F32(), hn::Min(x, hn::Zero(F32()))), splat(1.0f));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(F32())), below, x);
  }
  static HWY_INLINE VF slope(VF y) {
    return hn::IfThenElse(hn::Gt(y, hn::Zero(F32())), splat(1.0f), hn::Add(y, splat(1.0f)));
  }
};
struct SigmoidOp {
  static HWY_INLINE VF apply(VF x) { return Sigmoid(F32(), x); }
  static HWY_INLINE VF slope(VF y) { return hn::NegMulAdd(y, y, y); }
};
struct TanhOp {
  static HWY_INLINE VF apply(VF x) { return Tanh(F32(), x); }
  static HWY_INLINE VF slope(VF y) { return hn::NegMulAdd(y, y, splat(1.0f)); }
};
struct ErfOp {
  static HWY_INLINE VF apply(VF x) { return Erf(F32(), x); }
  static HWY_INLINE VF slope(VF x) {
    return hn::Mul(splat(1.1283791671f), Exp(F32(), hn::Neg(hn::Mul(x, x))));
  }
};
struct GeluOp {  // x * Phi(x), Phi the normal distribution
  static HWY_INLINE VF phi(VF x, VF& bell) {
    const VF tail = NormalTail(F32(), hn::Abs(x), bell);
    return hn::IfNegativeThenElse(x, tail, hn::Sub(splat(1.0f), tail));
  }
  static HWY_INLINE VF apply(VF x) {
    VF bell;
    return hn::Mul(x, phi(x, bell));
  }
  static HWY_INLINE VF slope(VF x) {
    VF bell;
    const VF distribution = phi(x, bell);
    return hn::MulAdd(x, hn::Mul(splat(0.3989422804f), bell), distribution);
  }
};
struct GeluTanhOp {  // x * sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3)
  static constexpr float kScale = 1.5957691216f;  // 2 sqrt(2/pi)
  static HWY_INLINE VF gate(VF x, VF x2) {
    const VF u = hn::Mul(x, hn::MulAdd(x2, splat(kScale * 0.044715f), splat(kScale)));
    return Sigmoid(F32(), u);
  }
  static HWY_INLINE VF apply(VF x) { return hn::Mul(x, gate(x, hn::Mul(x, x))); }
  static HWY_INLINE VF slope(VF x) {
    const VF x2 = hn::Mul(x, x);
    const VF s = gate(x, x2);
    const VF du = hn::MulAdd(x2, splat(kScale * 3.0f * 0.044715f), splat(kScale));
    return hn::MulAdd(hn::Mul(x, du), hn::NegMulAdd(s, s, s), s);
  }
};
struct SiluOp {
  static HWY_INLINE VF apply(VF x) { return hn::Mul(x, Sigmoid(F32(), x)); }
  static HWY_INLINE VF slope(VF x) {
    const VF s = Sigmoid(F32(), x);
    return hn::MulAdd(x, hn::NegMulAdd(s, s, s), s);
  }
};
struct SoftplusOp {  // max(x, 0) + log(1 + exp(-|x|))
  static HWY_INLINE VF apply(VF x) {
    const VF tail = Log(F32(), hn::Add(splat(1.0f), Exp(F32(), hn::Neg(hn::Abs(x)))));
    return hn::Add(ReluOp::apply(x), tail);
  }
  static HWY_INLINE VF slope(VF x) { return Sigmoid(F32(), x); }
};
struct SinOp {
  static HWY_INLINE VF apply(VF x) { return Sin(F32(), x); }
  static HWY_INLINE VF slope(VF x) { return Cos(F32(), x); }
};
struct CosOp {
  static HWY_INLINE VF apply(VF x) { return Cos(F32(), x); }
  static HWY_INLINE VF slope(VF x) { return hn::Neg(Sin(F32(), x)); }
};

struct AddOp {
  static HWY_INLINE VF apply(VF a, VF b) { return hn::Add(a, b); }
};
struct SubOp {
  static HWY_INLINE VF apply(VF a, VF b) { return hn::Sub(a, b); }
};
struct MulOp {
  static HWY_INLINE VF apply(VF a, VF b) { return hn::Mul(a, b); }
};
struct DivOp {
  static HWY_INLINE VF apply(VF a, VF b) { return hn::Div(a, b); }
};
struct MaximumOp {
  static HWY_INLINE VF apply(VF a, VF b) {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
};
struct MinimumOp {
  static HWY_INLINE VF apply(VF a, VF b) {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  }
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
