// Vectors of numbers of half precision (F16) as f32.
#if defined(HEED_KERNELS_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_HALF_INL_H_
#undef HEED_KERNELS_HALF_INL_H_
#else
#define HEED_KERNELS_HALF_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// As reference::half_to_float, all bits of NaN included. Highway's PromoteTo is not used because
/// on SSE4 it takes infinity and NaN for numbers.
template <class D>
HWY_INLINE hn::Vec<D> halves_to_float(D d, hn::Vec<hn::Rebind<std::uint16_t, D>> halves) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::PromoteTo(du, halves);
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000u)));
  const auto shifted = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fffu)));
  const auto exponent = hn::And(shifted, hn::Set(du, 0x0f800000u));
  const auto rebias = hn::Set(du, 112u << 23);
  const auto normal = hn::Add(shifted, rebias);
  const auto special = hn::Add(normal, rebias);  // infinity and NaN
  // A subnormal: the fraction below the exponent of 2^-14, minus 2^-14.
  const auto above = hn::Add(normal, hn::Set(du, 1u << 23));
  const auto subnormal = hn::BitCast(du, hn::Sub(hn::BitCast(d, above), hn::Set(d, 0x1p-14f)));
  const auto finite = hn::IfThenElse(hn::Eq(exponent, hn::Zero(du)), subnormal, normal);
  const auto value = hn::IfThenElse(hn::Eq(exponent, hn::Set(du, 0x0f800000u)), special, finite);
  return hn::BitCast(d, hn::Or(value, sign));
}

/// Numbers in memory. A NaN stays a NaN, with any bits.
template <class D>
HWY_INLINE hn::Vec<D> load_halves(D d, const std::byte* from) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::Rebind<hwy::float16_t, D> halves;
  return hn::PromoteTo(d, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
#else
  const hn::Rebind<std::uint16_t, D> halves;
  return halves_to_float(d, hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(from)));
#endif
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
