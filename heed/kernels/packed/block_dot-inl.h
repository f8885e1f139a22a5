// Products of the integers of blocks (blocks.h) and of x, four at a time, added to each 32-bit lane
// of a vector. They are exact on every instruction set.
//
// A Dot has: Weights, what is kept of a vector of weights while rows of x pass; prepare(), which
// makes it; add(); kSteps, how many times it may be called before total() turns what was added into
// sums of 32 bits; of 8 bits centred(), which makes the sum with q - 128 of it.
#if defined(HEED_KERNELS_PACKED_BLOCK_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PACKED_BLOCK_DOT_INL_H_
#undef HEED_KERNELS_PACKED_BLOCK_DOT_INL_H_
#else
#define HEED_KERNELS_PACKED_BLOCK_DOT_INL_H_
#endif

#include "heed/kernels/packed/dot-inl.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
/// With the instructions of VNNI, weights of any number of bits without sign.
template <int kBits>
struct VnniBlockDot {
  using Weights = VI32;
  static constexpr int kSteps = 8;
  static HWY_INLINE Weights prepare(VI32 w) {
    return kBits == 8 ? hn::Xor(w, hn::Set(I32(), static_cast<std::int32_t>(0x80808080u))) : w;
  }
  static HWY_INLINE void add(VI32& sum, VI32 w, VI32 x) { VnniDot::add(sum, w, x); }
  static HWY_INLINE VI32 total(VI32 sum) { return sum; }
  static HWY_INLINE VI32 centred(VI32 sum, float x_sum) {
    return hn::Sub(sum, hn::Set(I32(), 128 * static_cast<std::int32_t>(x_sum)));
  }
};
#endif

#if HWY_TARGET == HWY_AVX3
#define HEED_MADDUBS(unsigned_, signed_) _mm512_maddubs_epi16((unsigned_).raw, (signed_).raw)
#define HEED_MADD_ONES(pairs) _mm512_madd_epi16(pairs, _mm512_set1_epi16(1))
#define HEED_ADD_PAIRS(a, b) _mm512_add_epi16(a, b)
#elif HWY_TARGET == HWY_AVX2
#define HEED_MADDUBS(unsigned_, signed_) _mm256_maddubs_epi16((unsigned_).raw, (signed_).raw)
#define HEED_MADD_ONES(pairs) _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))
#define HEED_ADD_PAIRS(a, b) _mm256_add_epi16(a, b)
#elif HWY_TARGET == HWY_SSE4
#define HEED_MADDUBS(unsigned_, signed_) _mm_maddubs_epi16((unsigned_).raw, (signed_).raw)
#define HEED_MADD_ONES(pairs) _mm_madd_epi16(pairs, _mm_set1_epi16(1))
#define HEED_ADD_PAIRS(a, b) _mm_add_epi16(a, b)
#endif

/// Weights of 4 or 5 bits without VNNI. On x86, sums of pairs stay in 16 bits: 8 steps of 4 bits
/// are at most 16 15 127 = 30480, 4 steps of 5 bits 8 31 127 = 31496.
template <int kBits>
struct PairBlockDot {
  using Weights = VI32;
  static constexpr int kSteps = kBits == 4 ? 8 : 4;
  static HWY_INLINE Weights prepare(VI32 w) { return w; }
#ifdef HEED_MADDUBS
  static HWY_INLINE void add(VI32& sum, VI32 w, VI32 x) {
    sum = in_order(VI32{HEED_ADD_PAIRS(sum.raw, HEED_MADDUBS(w, x))});
  }
  static HWY_INLINE VI32 total(VI32 sum) { return VI32{HEED_MADD_ONES(sum.raw)}; }
#else
  static HWY_INLINE void add(VI32& sum, VI32 w, VI32 x) { SignedDot::add(sum, x, w); }
  static HWY_INLINE VI32 total(VI32 sum) { return sum; }
#endif
};

/// Weights of 8 bits without VNNI: products of |w| and x with the sign of w. |-128| is a byte
/// without sign.
template <>
struct PairBlockDot<8> {
#ifdef HEED_MADDUBS
  struct Weights {
    VI32 w, magnitude;
  };
#else
  using Weights = VI32;
#endif
  static constexpr int kSteps = 8;
  static HWY_INLINE VI32 total(VI32 sum) { return sum; }
  static HWY_INLINE VI32 centred(VI32 sum, float /*x_sum*/) { return sum; }
#ifdef HEED_MADDUBS
  static HWY_INLINE Weights prepare(VI32 w) {
    const hn::Repartition<std::int8_t, I32> bytes;
    return {w, hn::BitCast(I32(), hn::Abs(hn::BitCast(bytes, w)))};
  }
  static HWY_INLINE void add(VI32& sum, const Weights& w, VI32 x) {
    sum = in_order(
        hn::Add(sum, VI32{HEED_MADD_ONES(HEED_MADDUBS(w.magnitude, with_sign_of(w.w, x)))}));
  }

 private:
  static HWY_INLINE VI32 with_sign_of(VI32 w, VI32 x) {
#if HWY_TARGET == HWY_AVX3
    const __m512i zero = _mm512_setzero_si512();
    return VI32{_mm512_mask_sub_epi8(x.raw, _mm512_movepi8_mask(w.raw), zero, x.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VI32{_mm256_sign_epi8(x.raw, w.raw)};
#else
    return VI32{_mm_sign_epi8(x.raw, w.raw)};
#endif
  }
#else
  static HWY_INLINE Weights prepare(VI32 w) { return w; }
  static HWY_INLINE void add(VI32& sum, VI32 w, VI32 x) { SignedDot::add(sum, x, w); }
#endif
};

#undef HEED_MADDUBS
#undef HEED_MADD_ONES
#undef HEED_ADD_PAIRS

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
