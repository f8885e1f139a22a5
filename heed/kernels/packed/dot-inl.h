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

/// Without VNNI, for some rows: products of words of 16 bits, in two parts. Bytes 0 and 2 of each
/// lane of weights are turned into words by a shift, bytes 1 and 3 by a mask; both are 256 times
/// the weight, and so are the sums. x holds words in the order 0, 2, 1, 3. Per row this is two
/// instructions for two products a lane, and nothing for signs: 143 GOP/s on Zen 3 with tiles of 6
/// rows by 16 outputs, where PairDot has 128; but for one row 85 instead of 110.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
struct WordDot {
  /// What bytes must be multiplied by to be words.
  static constexpr int kShift = 8;
  static HWY_INLINE VI32 words(VI32 w, int part) {
    const hn::Repartition<std::int16_t, I32> d16;
    const auto pairs = hn::BitCast(d16, w);
    return hn::BitCast(I32(), part == 0 ? hn::ShiftLeft<kShift>(pairs)
                                        : hn::And(pairs, hn::Set(d16, std::int16_t{-256})));
  }
  static HWY_INLINE void add(VI32& sum, VI32 x, VI32 w) {
#if HWY_TARGET == HWY_AVX2
    __m256i raw = _mm256_add_epi32(sum.raw, _mm256_madd_epi16(x.raw, w.raw));
#else
    __m128i raw = _mm_add_epi32(sum.raw, _mm_madd_epi16(x.raw, w.raw));
#endif
    // Without this the compiler adds products to each other first, and keeps sums in memory (118
    // GOP/s).
    asm("" : "+x"(raw));
    sum = VI32{raw};
  }
};
#endif

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
