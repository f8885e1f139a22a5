// Philox 4x32-10 (base/random.h) with vectors: one block per 64-bit lane, with its four words in
// the lower halves of four vectors. Upper halves hold remainders of products, which the next
// multiplication ignores. The words are equal to those of heed::philox, bit for bit.
#if defined(HEED_KERNELS_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_PHILOX_INL_H_
#undef HEED_KERNELS_PHILOX_INL_H_
#else
#define HEED_KERNELS_PHILOX_INL_H_
#endif

#include <cstdint>

#include "heed/base/random.h"
#include "heed/kernels/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using U64 = hn::ScalableTag<std::uint64_t>;
using VU64 = hn::Vec<U64>;

/// The product of the lower halves of each lane.
HWY_INLINE VU64 mul_lower_halves(VU64 a, VU64 b) {
  const hn::Repartition<std::uint32_t, U64> du32;
  return hn::MulEven(hn::BitCast(du32, a), hn::BitCast(du32, b));
}

/// Writes the four words of each block of a vector of blocks, one block after another.
HWY_INLINE void philox_blocks(RandomStream random, VU64 blocks, std::uint32_t* words) {
  constexpr int kRounds = 10;
  const U64 d;
  const VU64 multiplier0 = hn::Set(d, 0xD2511F53);
  const VU64 multiplier1 = hn::Set(d, 0xCD9E8D57);
  VU64 key0 = hn::Set(d, random.seed);
  VU64 key1 = hn::Set(d, random.seed >> 32);
  VU64 c0 = blocks;
  VU64 c1 = hn::ShiftRight<32>(blocks);
  VU64 c2 = hn::Set(d, random.stream);
  VU64 c3 = hn::Set(d, random.stream >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const VU64 product0 = mul_lower_halves(c0, multiplier0);
    const VU64 product1 = mul_lower_halves(c2, multiplier1);
    c0 = hn::Xor(hn::ShiftRight<32>(product1), hn::Xor(c1, key0));
    c2 = hn::Xor(hn::ShiftRight<32>(product0), hn::Xor(c3, key1));
    c1 = product1;
    c3 = product0;
    key0 = hn::Add(key0, hn::Set(d, 0x9E3779B9));
    key1 = hn::Add(key1, hn::Set(d, 0xBB67AE85));
  }
  const VU64 lower = hn::Set(d, 0xFFFFFFFF);
  const VU64 first = hn::Or(hn::And(c0, lower), hn::ShiftLeft<32>(c1));
  const VU64 second = hn::Or(hn::And(c2, lower), hn::ShiftLeft<32>(c3));
  hn::StoreInterleaved2(first, second, d, reinterpret_cast<std::uint64_t*>(words));
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
