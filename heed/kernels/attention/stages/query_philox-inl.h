// Philox 4x32-7 for a vector of queries, one group of keys at a time: the words of query_random.h.
// Queries are 32-bit lanes; even and odd ones are processed separately in the lower halves of
// 64-bit lanes (see philox-inl.h).
#if defined(HEED_KERNELS_ATTENTION_STAGES_QUERY_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_STAGES_QUERY_PHILOX_INL_H_
#undef HEED_KERNELS_ATTENTION_STAGES_QUERY_PHILOX_INL_H_
#else
#define HEED_KERNELS_ATTENTION_STAGES_QUERY_PHILOX_INL_H_
#endif

#include <cstdint>

#include "heed/kernels/attention/stages/query_random.h"
#include "heed/kernels/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The generator of one head.
class QueryPhilox {
 public:
  using U32 = hn::Repartition<std::uint32_t, U64>;
  struct Words {
    hn::Vec<U32> word[4];
  };

  explicit QueryPhilox(RandomStream random) : random_(random) {
    for (int round = 0; round < kRounds; ++round) {
      const auto n = static_cast<std::uint32_t>(round);
      key_[round][0] = static_cast<std::uint32_t>(random.seed) + n * 0x9E3779B9u;
      key_[round][1] = static_cast<std::uint32_t>(random.seed >> 32) + n * 0xBB67AE85u;
      keys_[round][0] = hn::Set(U64(), key_[round][0]);
      keys_[round][1] = hn::Set(U64(), key_[round][1]);
    }
  }

  /// Starts with the queries from `query` on. Rounds 0 and 1 and half of round 2 of the queries do
  /// not depend on the keys, so they are computed here, once for all keys.
  HWY_INLINE void start(std::int64_t query) {
    const auto lanes = hn::BitCast(U64(), hn::Iota(U32(), static_cast<std::uint32_t>(query)));
    start(lanes, even_);
    start(hn::ShiftRight<32>(lanes), odd_);
  }

  /// The words of the queries for a group of keys.
  HWY_INLINE Words words(std::int64_t group) const {
    // Half of round 1 depends on the group alone.
    const std::uint64_t stream0 = random_.stream & 0xFFFFFFFF;
    const std::uint64_t mixed =
        (kMultiplier1 * stream0 >> 32) ^ static_cast<std::uint32_t>(group) ^ key_[0][0];
    const std::uint64_t product = kMultiplier0 * mixed;
    const VU64 high = hn::Set(U64(), product >> 32);
    const VU64 low = hn::Set(U64(), product);
    State even = finish_third(even_, high, low);
    State odd = finish_third(odd_, high, low);
#pragma GCC unroll 10
    for (int round = 3; round < kRounds; ++round) {
      even.mix(keys_[round]);
      odd.mix(keys_[round]);
    }
    return {{join(even.c0, odd.c0), join(even.c1, odd.c1), join(even.c2, odd.c2),
             join(even.c3, odd.c3)}};
  }

 private:
  static constexpr int kRounds = kQueryPhiloxRounds;
  static constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;

  // The counter between rounds; upper halves hold arbitrary bits.
  struct State {
    VU64 c0, c1, c2, c3;
    HWY_INLINE void mix(const VU64 (&key)[2]) {
      const VU64 product0 = mul_lower_halves(c0, hn::Set(U64(), kMultiplier0));
      const VU64 product1 = mul_lower_halves(c2, hn::Set(U64(), kMultiplier1));
      c0 = hn::Xor3(hn::ShiftRight<32>(product1), c1, key[0]);
      c2 = hn::Xor3(hn::ShiftRight<32>(product0), c3, key[1]);
      c1 = product1;
      c3 = product0;
    }
  };

  // The inputs of a vector of queries to the third round: its c0 and c3 before that round, with the
  // keys of Philox applied, and its first product.
  struct Queries {
    VU64 to_c2, to_c0, product0, high0;
  };

  HWY_INLINE void start(VU64 query, Queries& to) const {
    const VU64 m0 = hn::Set(U64(), kMultiplier0), m1 = hn::Set(U64(), kMultiplier1);
    const VU64 a3 = mul_lower_halves(query, m0);
    const VU64 a2 =
        hn::Xor3(hn::ShiftRight<32>(a3), hn::Set(U64(), random_.stream >> 32), keys_[0][1]);
    const VU64 b1 = mul_lower_halves(a2, m1);
    const VU64 a1 = hn::Set(U64(), kMultiplier1 * (random_.stream & 0xFFFFFFFF));
    const VU64 b0 = hn::Xor3(hn::ShiftRight<32>(b1), a1, keys_[1][0]);
    to.to_c2 = hn::Xor(a3, keys_[1][1]);
    to.to_c0 = hn::Xor(b1, keys_[2][0]);
    to.product0 = mul_lower_halves(b0, m0);
    to.high0 = hn::Xor(hn::ShiftRight<32>(to.product0), keys_[2][1]);
  }

  HWY_INLINE static State finish_third(const Queries& q, VU64 high, VU64 low) {
    const VU64 product1 = mul_lower_halves(hn::Xor(high, q.to_c2), hn::Set(U64(), kMultiplier1));
    return {hn::Xor(hn::ShiftRight<32>(product1), q.to_c0), product1, hn::Xor(q.high0, low),
            q.product0};
  }

  HWY_INLINE static hn::Vec<U32> join(VU64 even, VU64 odd) {
    const U32 d;
    return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  }

  RandomStream random_;
  std::uint32_t key_[kRounds][2];
  VU64 keys_[kRounds][2];
  Queries even_, odd_;
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
