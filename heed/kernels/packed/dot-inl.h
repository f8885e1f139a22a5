// The sum of four products of 8-bit integers, added to each 32-bit lane of a vector. It is exact on
// every instruction set: weights are from -127 to 127, so that no sum of two products leaves 16
// bits.
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

/// With the instructions of VNNI. x holds bytes without sign: the integers + 128.
#if HWY_TARGET == HWY_AVX3
struct VnniDot {
  static constexpr bool kUnsigned = true;
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
  static constexpr bool kUnsigned = true;
  static HWY_INLINE void add(VI32& sum, VI32 x, VI32 w) {
    __m256i raw = sum.raw;
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(raw) : "x"(x.raw), "x"(w.raw));
    sum = VI32{raw};
  }
};
#endif

/// Without VNNI: products of |x| and w with the sign of x, added in pairs to 16 bits, then to 32.
/// x holds bytes with sign.
struct PairDot {
  static constexpr bool kUnsigned = false;
  static HWY_INLINE void add(VI32& sum, VI32 x, VI32 w) {
#if HWY_TARGET == HWY_AVX3
    const __m512i zero = _mm512_setzero_si512();
    const __m512i signed_w = _mm512_mask_sub_epi8(w.raw, _mm512_movepi8_mask(x.raw), zero, w.raw);
    const __m512i pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(x.raw), signed_w);
    sum = hn::Add(sum, VI32{_mm512_madd_epi16(pairs, _mm512_set1_epi16(1))});
#elif HWY_TARGET == HWY_AVX2
    const __m256i pairs =
        _mm256_maddubs_epi16(_mm256_abs_epi8(x.raw), _mm256_sign_epi8(w.raw, x.raw));
    sum = hn::Add(sum, VI32{_mm256_madd_epi16(pairs, _mm256_set1_epi16(1))});
#elif HWY_TARGET == HWY_SSE4
    const __m128i pairs = _mm_maddubs_epi16(_mm_abs_epi8(x.raw), _mm_sign_epi8(w.raw, x.raw));
    sum = hn::Add(sum, VI32{_mm_madd_epi16(pairs, _mm_set1_epi16(1))});
#elif HWY_TARGET == HWY_NEON && defined(__ARM_FEATURE_DOTPROD)
    sum.raw = vdotq_s32(sum.raw, vreinterpretq_s8_s32(x.raw), vreinterpretq_s8_s32(w.raw));
#else
    const auto byte = [](VI32 v, int i)
                          HWY_ATTR { return hn::ShiftRight<24>(hn::ShiftLeftSame(v, 24 - 8 * i)); };
    for (int i = 0; i < 4; ++i) sum = hn::Add(sum, hn::Mul(byte(x, i), byte(w, i)));
#endif
  }
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
