// Vector forms of exp, exp2, log, tanh, erf, sigmoid, sin and cos for float, on any instruction
// set. NaN is propagated, infinities give the limits, overflow gives infinity and a result below
// 2^-126 may be 0. Errors in units in the last place: sin and cos 0.5; exp, exp2 and log 1.1; erf
// 1.4; tanh and sigmoid 2.5 (tests/kernels/math_test.cpp). tools/fit_polynomials.py makes the
// polynomials.
#if defined(HEED_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_MATH_INL_H_
#undef HEED_KERNELS_MATH_INL_H_
#else
#define HEED_KERNELS_MATH_INL_H_
#endif

#include <cmath>
#include <limits>

#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// c0 + c1 x + c2 x^2 + ...
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Polynomial(D d, V /*x*/, hn::TFromD<D> c0) {
  return hn::Set(d, c0);
}
template <class D, class V = hn::Vec<D>, typename... Rest>
HWY_INLINE V Polynomial(D d, V x, hn::TFromD<D> c0, Rest... rest) {
  return hn::MulAdd(Polynomial(d, x, rest...), x, hn::Set(d, c0));
}

namespace math {

/// The smaller of x and the limit; NaN if x is NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V AtMost(D d, V x, float limit) {
  const V most = hn::Set(d, limit);
#if HWY_ARCH_X86
  return hn::Min(most, x);  // one instruction, which returns its second operand if either is NaN
#else
  return hn::IfThenElse(hn::Gt(x, most), most, x);
#endif
}

/// The larger of x and the limit; NaN if x is NaN.
template <class V>
HWY_INLINE V AtLeast(V least, V x) {
#if HWY_ARCH_X86
  return hn::Max(least, x);
#else
  return hn::IfThenElse(hn::Lt(x, least), least, x);
#endif
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V AtLeast(D d, V x, float limit) {
  return AtLeast(hn::Set(d, limit), x);
}

// x + kToInteger rounds x to the nearest integer. That integer is in the lowest bits of the sum,
// and a shift moves it into the exponent. Valid for |x| < 2^22.
inline constexpr float kToInteger = 0x1.8p23f;

// ln 2 in two parts; the first has few bits, so that its product with an exponent is exact.
inline constexpr float kLn2High = 0x1.62e4p-1f;
inline constexpr float kLn2Low = 0x1.7f7d1cp-20f;
inline constexpr float kLog2E = 0x1.715476p0f;

/// x 2^n for the n that `shifted` = n + kToInteger holds, if both x and the result are normal.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ScaleBy(D d, V x, V shifted) {
  const hn::RebindToUnsigned<D> du;
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(du, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(du, x), exponent));
}

// With kToInteger + kBias + k instead of kToInteger, the shift alone gives the float 2^(n + k): 0
// if n + k is -127, infinity if it is 128. Unlike ScaleBy, a product with that propagates NaN.
inline constexpr float kBias = 127.0f;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V PowerOfTwo(D d, V shifted) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(du, shifted)));
}

/// e^(sx) - 1 = s (x + x^2 q(x)) for |sx| <= ln(2)/2: returns x + x^2 q(x).
template <int s, class D, class V = hn::Vec<D>>
HWY_INLINE V ScaledExpm1(D d, V x) {
  constexpr float k = s;  // plus or minus a power of two, so that the products below are exact
  const V x2 = hn::Mul(x, x);
  // In this order the longest dependency chain has four multiplications, one fewer than with
  // Horner's rule.
  const V low = hn::MulAdd(x, hn::Set(d, 0.166665211f * k * k), hn::Set(d, 0.49999994f * k));
  const V high = hn::MulAdd(x, hn::Set(d, 0.00836866815f * k * k * k * k),
                            hn::Set(d, 0.0416682586f * k * k * k));
  const V top = hn::MulAdd(x2, hn::Set(d, 0.00138213055f * k * k * k * k * k), high);
  return hn::MulAdd(x2, hn::MulAdd(x2, top, low), x);
}

/// e^x = 2^n (1 + m): returns m and sets shifted = n + kToInteger. For |x| < 89.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SplitExp(D d, V x, V& shifted) {
  shifted = hn::MulAdd(x, hn::Set(d, kLog2E), hn::Set(d, kToInteger));
  const V n = hn::Sub(shifted, hn::Set(d, kToInteger));
  const V f = hn::NegMulAdd(n, hn::Set(d, kLn2Low), hn::NegMulAdd(n, hn::Set(d, kLn2High), x));
  return ScaledExpm1<1>(d, f);
}

/// e^x for x whose result is a normal number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpInRange(D d, V x) {
  V shifted;
  const V m = SplitExp(d, x, shifted);
  return ScaleBy(d, hn::Add(m, hn::Set(d, 1.0f)), shifted);
}

/// y, but 0 if x < lowest and infinity if x > highest; NaN if x is NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LimitExp(D d, V x, V y, float lowest, float highest) {
  const V above = hn::Add(x, hn::Set(d, std::numeric_limits<float>::infinity()));
  const V limited = hn::IfThenElse(hn::Le(x, hn::Set(d, highest)), y, above);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, lowest)), limited);
}

}  // namespace math

/// e^x.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp(D d, V x) {
  // The logarithms of the smallest normal and the largest float.
  return math::LimitExp(d, x, math::ExpInRange(d, x), -0x1.5d589ep6f, 0x1.62e42ep6f);
}

/// 2^x.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp2(D d, V x) {
  const V shifted = hn::Add(x, hn::Set(d, math::kToInteger));
  const V f = hn::Sub(x, hn::Sub(shifted, hn::Set(d, math::kToInteger)));
  const V y = Polynomial(d, f, 1.0f, 0.693147182f, 0.240226477f, 0.0555035956f, 0.00961849932f,
                         0.00133909693f, 0.00015329264f);
  return math::LimitExp(d, x, math::ScaleBy(d, y, shifted), -126.0f, 0x1.fffffep6f);
}

/// The natural logarithm: -infinity at 0, NaN below.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log(D d, V x) {
  const hn::RebindToSigned<D> di;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const V zero = hn::Zero(d);
  // Denormals are scaled to normal numbers first.
  const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-126f));
  const V scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p23f)), x);
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)).
  const auto bits = hn::BitCast(di, scaled);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const V e = hn::Add(hn::ConvertTo(d, exponent), hn::IfThenElseZero(tiny, hn::Set(d, -23.0f)));

  const V f = hn::Sub(m, hn::Set(d, 1.0f));
  const V q = Polynomial(d, f, 0.333333313f, -0.250008196f, 0.200012401f, -0.166234076f,
                         0.142016277f, -0.131596833f, 0.127618611f, -0.0763575062f);
  const V f2 = hn::Mul(f, f);
  const V small = hn::MulAdd(e, hn::Set(d, math::kLn2Low), hn::Mul(hn::Mul(f2, f), q));
  const V tail = hn::NegMulAdd(f2, hn::Set(d, 0.5f), small);
  const V y = hn::MulAdd(e, hn::Set(d, math::kLn2High), hn::Add(f, tail));

  const V below = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const V at_limits = hn::IfThenElse(hn::Eq(x, zero), hn::Set(d, -kInfinity), below);
  const V from_zero = hn::IfThenElse(hn::Le(x, zero), at_limits, y);
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, kInfinity)), from_zero, hn::Add(x, x));
}

/// The hyperbolic tangent: h / (h + 1) with h = (e^2|x| - 1) / 2 computed without cancellation.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Tanh(D d, V x) {
  constexpr float kShift = math::kToInteger + math::kBias;
  const V sign = hn::And(x, hn::Set(d, -0.0f));
  // From 9.1 on the result rounds to 1.
  const V a = math::AtMost(d, hn::Xor(x, sign), 10.0f);
  const V shifted = hn::MulAdd(a, hn::Set(d, 2 * math::kLog2E), hn::Set(d, kShift));
  const V n = hn::Sub(shifted, hn::Set(d, kShift));
  // n is small, so ln 2 need not be split into two parts.
  const V f = hn::NegMulAdd(n, hn::Set(d, 0x1.62e43p-2f), a);
  const V scale = math::PowerOfTwo(d, shifted);
  const V less_half = hn::MulAdd(scale, hn::Set(d, 0.5f), hn::Set(d, -0.5f));
  const V h = hn::MulAdd(math::ScaledExpm1<2>(d, f), scale, less_half);
  return hn::Or(hn::Div(h, hn::Add(h, hn::Set(d, 1.0f))), sign);
}

/// 1 / (1 + e^-x), as 0.5 / (0.5 + e^-x / 2): the half keeps the power of two in range.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sigmoid(D d, V x) {
  constexpr float kShift = math::kToInteger + math::kBias - 1;
  // Above the upper limit the result is 1; below the lower limit it is 0, because the power of two
  // is infinite.
  const V limited = math::AtLeast(d, math::AtMost(d, x, 80.0f), -89.6f);
  const V shifted = hn::NegMulAdd(limited, hn::Set(d, math::kLog2E), hn::Set(d, kShift));
  const V n = hn::Sub(shifted, hn::Set(d, kShift));
  const V rest = hn::MulAdd(n, hn::Set(d, math::kLn2High), limited);
  const V f = hn::MulAdd(n, hn::Set(d, math::kLn2Low), rest);  // e^-x = 2^n e^-f
  const V half = hn::Set(d, 0.5f);
  const V power = hn::Sub(hn::Set(d, 1.0f), math::ScaledExpm1<-1>(d, f));
  return hn::Div(half, hn::MulAdd(power, math::PowerOfTwo(d, shifted), half));
}

/// The error function: an odd polynomial near 0, and 1 - e^-q(|x|) further out.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erf(D d, V x) {
  const V x2 = hn::Mul(x, x);
  const V near = hn::MulAdd(x,
                            Polynomial(d, x2, 0.128379166f, -0.376126081f, 0.112831622f,
                                       -0.0268222429f, 0.00508686574f, -0.000654224947f),
                            x);
  // From 3.93 on the result rounds to 1.
  const V magnitude = hn::Abs(x);
  const V a = math::AtMost(d, magnitude, 4.0f);
  const V q = Polynomial(d, a, 5.68416763e-05f, 1.12827134f, 0.636142254f, 0.104876101f,
                         -0.0226971116f, 0.00316477823f, -0.000208681478f);
  const V far = hn::Sub(hn::Set(d, 1.0f), math::ExpInRange(d, hn::Neg(q)));
  return hn::IfThenElse(hn::Ge(magnitude, hn::Set(d, 0.8f)), hn::CopySign(far, x), near);
}

/// The tail Phi(-a) of the normal distribution for a >= 0, and `bell` = e^(-a^2/2), which is a
/// factor of it; 0 if that is below 2^-126. Down to 1e-30 the relative error is 8e-7. Without fused
/// multiply-add, `lost` is 0 and the error grows with a^2 to 7e-6.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V NormalTail(D d, V a, V& bell) {
  constexpr float kShift = math::kToInteger + math::kBias;
  const V k = hn::Set(d, 0.5f * math::kLog2E);
  const V limited = hn::Min(a, hn::Set(d, 13.28f));  // the power of two is 0 from 13.25 on
  const V square = hn::Mul(limited, limited);
  const V lost = hn::MulSub(limited, limited, square);  // rounding error of the square
  const V shifted = hn::NegMulAdd(square, k, hn::Set(d, kShift));
  const V n = hn::Sub(shifted, hn::Set(d, kShift));
  const V f = hn::MulAdd(lost, k, hn::MulAdd(square, k, n));  // bell = 2^n 2^-f
  const V power = Polynomial(d, f, 1.0f, -0.693147004f, 0.240222469f, -0.0555071086f,
                             0.00967129227f, -0.00132695376f);
  bell = hn::Mul(power, math::PowerOfTwo(d, shifted));
  const V above = Polynomial(d, limited, 0.49999994f, 0.35373801f, 0.114764512f, 0.0159025434f);
  const V below =
      Polynomial(d, limited, 1.0f, 1.50535178f, 0.930707991f, 0.287398547f, 0.0398693867f);
  return hn::Mul(bell, hn::Div(above, below));
}

namespace math {

/// sin(x + quarter_turns pi/2) in double, for |x| <= kLargestAngle.
template <int quarter_turns, class D, class V = hn::Vec<D>>
HWY_INLINE V SinOfDouble(D d, V x) {
  constexpr double kShift = 0x1.8p52;  // like kToInteger
  // pi/2 in two parts; the first has 33 bits, so that its product with n is exact.
  constexpr double kHigh = 0x1.921fb544p0, kLow = 0x1.0b4611a626331p-34;
  const hn::RebindToUnsigned<D> du;
  const V shifted = hn::MulAdd(x, hn::Set(d, 0x1.45f306dc9c883p-1), hn::Set(d, kShift));
  const V n = hn::Sub(shifted, hn::Set(d, kShift));
  const V r = hn::NegMulAdd(n, hn::Set(d, kLow), hn::NegMulAdd(n, hn::Set(d, kHigh), x));
  const V r2 = hn::Mul(r, r);
  const V sine = hn::Mul(r, Polynomial(d, r2, 1.0, -0.16666666640796515, 0.0083333293047980223,
                                       -0.00019839312258075972, 2.7181215372189715e-06));
  const V cosine = Polynomial(d, r2, 1.0, -0.5, 0.041666666619491977, -0.0013888883500104341,
                              2.4799460160478001e-05, -2.720575470075088e-07);
  const auto quadrant = hn::Add(hn::BitCast(du, shifted), hn::Set(du, quarter_turns));
  const auto odd = hn::TestBit(quadrant, hn::Set(du, 1));
  const V y = hn::IfThenElse(hn::RebindMask(d, odd), cosine, sine);
  const auto sign = hn::ShiftLeft<63>(hn::ShiftRight<1>(quadrant));
  return hn::Xor(y, hn::BitCast(d, sign));
}

inline constexpr float kLargestAngle = 0x1p20f;

/// Angles are reduced in double: positions times frequencies may be large, and the remainder after
/// many turns must still be accurate to the last bit. Even larger angles, and those that are not
/// finite, are passed to the standard library one by one.
template <int quarter_turns, class D, class V = hn::Vec<D>>
HWY_INLINE V SinOrCos(D d, V x) {
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kLargestAngle))))) {
    HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(x, d, lanes);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
      lanes[i] = static_cast<float>(quarter_turns == 0 ? std::sin(static_cast<double>(lanes[i]))
                                                       : std::cos(static_cast<double>(lanes[i])));
    }
    return hn::Load(d, lanes);
  }
  const hn::Half<D> half;
  const hn::Rebind<double, decltype(half)> dd;
  const auto low = SinOfDouble<quarter_turns>(dd, hn::PromoteTo(dd, hn::LowerHalf(half, x)));
  const auto high = SinOfDouble<quarter_turns>(dd, hn::PromoteTo(dd, hn::UpperHalf(half, x)));
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

}  // namespace math

/// The sine of an angle in radians.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sin(D d, V x) {
  return math::SinOrCos<0>(d, x);
}

/// The cosine of an angle in radians.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Cos(D d, V x) {
  return math::SinOrCos<1>(d, x);
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
