// Vectors of bf16 numbers, which are the upper halves of f32: alone, in pairs that share a lane of
// 32 bits, and the dot product of pairs (AVX512-BF16).
#if defined(HEED_KERNELS_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_BF16_INL_H_
#undef HEED_KERNELS_BF16_INL_H_
#else
#define HEED_KERNELS_BF16_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "heed/base/dtype.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F32 = hn::ScalableTag<float>;
using VF = hn::Vec<F32>;
using Bf16Tag = hn::Rebind<std::uint16_t, F32>;  // as many lanes as F32, of half the size
using PairTag = hn::RebindToUnsigned<F32>;       // pairs, the first in the lower half of a lane
using VPairs = hn::Vec<PairTag>;

HWY_INLINE VF widen(hn::Vec<Bf16Tag> x) {
  return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(PairTag(), x)));
}

/// Rounded to the nearest, ties to even; a NaN stays one.
HWY_INLINE hn::Vec<Bf16Tag> narrow(VF x) {
  const PairTag du;
  const auto bits = hn::BitCast(du, x);
  const auto upper = hn::ShiftRight<16>(bits);
  const auto to_even = hn::Add(hn::Set(du, 0x7fff), hn::And(upper, hn::Set(du, 1)));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, to_even));
  const auto quiet = hn::Or(upper, hn::Set(du, 0x40));
  const auto is_nan = hn::RebindMask(du, hn::IsNaN(x));
  const hn::RebindToSigned<F32> di;
  return hn::DemoteTo(Bf16Tag(), hn::BitCast(di, hn::IfThenElse(is_nan, quiet, rounded)));
}

/// One number of each pair: the first (0) or the second (1).
template <int kPlace>
HWY_INLINE VF half_of(VPairs pairs) {
  return hn::BitCast(F32(), kPlace == 0 ? hn::ShiftLeft<16>(pairs)
                                        : hn::And(pairs, hn::Set(PairTag(), 0xffff0000u)));
}

/// One pair in all lanes.
HWY_INLINE VPairs repeat_pair(const BFloat16* x) {
  std::uint32_t pair;
  std::memcpy(&pair, x, sizeof pair);
  return hn::Set(PairTag(), pair);
}

#if HWY_TARGET == HWY_AVX3
/// Adds to each lane of sum the product of the second numbers of the pairs, then that of the first
/// ones. Whether the CPU has the instruction is asked at run time (packed/cpu.h): Highway's AVX-512
/// target does not include it, so it is written as text. Its operands are local variables, because
/// members of Highway's vectors were kept in memory.
HWY_INLINE VF add_pair_products(VF sum, VPairs a, VPairs b) {
  auto raw = sum.raw;
  const auto left = a.raw, right = b.raw;
  asm("vdpbf16ps %2, %1, %0" : "+v"(raw) : "v"(left), "v"(right));
  sum.raw = raw;
  return sum;
}
#endif

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
