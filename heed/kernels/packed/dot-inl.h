// The sum of four products of 8-bit integers, added to each 32-bit lane of a vector. It is exact on
// every instruction set: x is from 0 to 127 and w from -128 to 127, so that no sum of two products
// leaves 16 bits. With VNNI, x may be any byte without sign.
//
// A Dot says with kHasOffsets which integers of x it takes (quantize_rows.h): 7 bits with an offset
// for each group, or bytes with a common offset.
#if defined(HEED_KERNELS_PACKED_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PACKED_DOT_INL_H_
#undef HEED_KERNELS_PACKED_DOT_INL_H_
#else
#define HEED_KERNELS_PACKED_DOT_INL_H_
#endif

#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using I32 = hn::ScalableTag<std::int32_t>;
using VI32 = hn::Vec<I32>;

/// The same vector. The compiler would compute the products of several steps first, which do not
/// fit into registers, and add them afterwards in an order of its own: 1.6 times slower.
HWY_INLINE VI32 in_order(VI32 sum) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
  auto raw = sum.raw;
  asm("" : "+x"(raw));
  return VI32{raw};
#else
  return sum;
#endif
}

/// Products of integers of both signs, where no instruction needs one without.
struct SignedDot {
  static HWY_INLINE void add(VI32& sum, VI32 x, VI32 w) {
#if HWY_TARGET == HWY_NEON && defined(__ARM_FEATURE_DOTPROD)
    sum.raw = vdotq_s32(sum.raw, vreinterpretq_s8_s32(x.raw), vreinterpretq_s8_s32(w.raw));
#else
    const auto byte = [](VI32 v, int i)
                          HWY_ATTR { return hn::ShiftRight<24>(hn::ShiftLeftSame(v, 24 - 8 * i)); };
    for (int i = 0; i < 4; ++i) sum = hn::Add(sum, hn::Mul(byte(x, i), byte(w, i)));
#endif
  }
};

/// With the instructions of VNNI.
#if HWY_TARGET == HWY_AVX3
struct VnniDot {
  static constexpr bool kHasOffsets = false;
  static HWY_INLINE void add(VI32& sum, VI32 x, VI32 w) {
    // Written as text, because the target of the surrounding code need not have VNNI. A copy of the
    // sum: the compiler would keep the operand of the text in memory if it were a member.
    __m512i raw = sum.raw;
    asm("vpdpbusd %2, %1, %0" : "+v"(raw) : "v"(x.raw), "v"(w.raw));
    sum = VI32{raw};
  }
};
#elif HWY_TARGET == HWY_AVX2
struct VnniDot {
  static constexpr bool kHasOffsets = false;
  static HWY_INLINE void add(VI32& sum, VI32 x, VI32 w) {
    __m256i raw = sum.raw;
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(raw) : "x"(x.raw), "x"(w.raw));
    sum = VI32{raw};
  }
};
#endif

/// Without VNNI: pairs of products are added to 16 bits, then to 32.
struct PairDot {
  static constexpr bool kHasOffsets = true;
  static HWY_INLINE void add(VI32& sum, VI32 x, VI32 w) {
#if HWY_TARGET == HWY_AVX3
    const __m512i pairs = _mm512_maddubs_epi16(x.raw, w.raw);
    sum = hn::Add(sum, VI32{_mm512_madd_epi16(pairs, _mm512_set1_epi16(1))});
#elif HWY_TARGET == HWY_AVX2
    const __m256i pairs = _mm256_maddubs_epi16(x.raw, w.raw);
    sum = in_order(hn::Add(sum, VI32{_mm256_madd_epi16(pairs, _mm256_set1_epi16(1))}));
#elif HWY_TARGET == HWY_SSE4
    const __m128i pairs = _mm_maddubs_epi16(x.raw, w.raw);
    sum = in_order(hn::Add(sum, VI32{_mm_madd_epi16(pairs, _mm_set1_epi16(1))}));
#else
    SignedDot::add(sum, x, w);
#endif
  }
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
