// Products of attention in bf16: one instruction (AVX512-BF16) multiplies pairs of numbers and adds
// both products to a float. Empty for other instruction sets.
#if defined(HEED_KERNELS_ATTENTION_BF16_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_BF16_PAIRS_INL_H_
#undef HEED_KERNELS_ATTENTION_BF16_PAIRS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_BF16_PAIRS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "heed/base/arena.h"
#include "heed/kernels/attention/bf16_pairs.h"
#include "heed/kernels/attention/block-inl.h"
#include "heed/kernels/bf16-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <>
struct Multiply<Bf16Pair> {
  using Sum = float;
  using Vector = VPairs;
  static HWY_INLINE Vector load(const Bf16Pair* b) { return hn::LoadU(PairTag(), &b->bits); }
  static HWY_INLINE Vector repeat(Bf16Pair a) { return hn::Set(PairTag(), a.bits); }
  static HWY_INLINE VF add(Vector a, Vector b, VF c) { return add_pair_products(c, a, b); }
};

/// Lane i has (low[i], high[i]), rounded to nearest even.
HWY_INLINE VPairs PairsOf(VF low, VF high) {
  alignas(64) static constexpr std::uint16_t kWeave[32] = {
      0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
      8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const auto first = low.raw, second = high.raw;
  __m512i both;  // all of low, then all of high; as text, like add_pair_products()
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(both) : "v"(first), "v"(second));
  return VPairs{_mm512_permutexvar_epi16(_mm512_load_si512(kWeave), both)};
}
HWY_INLINE void store_pairs(VF low, VF high, Bf16Pair* to) {
  hn::StoreU(PairsOf(low, high), PairTag(), &to->bits);
}

/// to[c][r] = (from[2 c][r], from[2 c + 1][r]) for rows of whole vectors; `rows` is even.
inline void pair_rows(const float* from, std::int64_t rows, std::int64_t width, Bf16Pair* to) {
  const F32 d;
  for (std::int64_t c = 0; c < rows / 2; ++c) {
    for (std::int64_t r = 0; r < width; r += kLanes) {
      const float* const x = from + 2 * c * width + r;
      store_pairs(hn::Load(d, x), hn::Load(d, x + width), to + c * width + r);
    }
  }
}

/// A head of keys: to[k][c] = (from[k][2 c], from[k][2 c + 1]). The numbers are bf16 already.
inline void pair_keys(RowsOf<const float> from, std::int64_t keys, std::int64_t features,
                      Bf16Pair* to) {
  for (std::int64_t k = 0; k < keys; ++k) {
    const float* const row = from.row(k);
    for (std::int64_t c = 0; c < features / 2; ++c, ++to) {
      std::uint32_t low, high;
      std::memcpy(&low, row + 2 * c, sizeof(low));
      std::memcpy(&high, row + 2 * c + 1, sizeof(high));
      to->bits = low >> 16 | (high & 0xffff0000u);
    }
  }
}

/// A head of values: to[k][f] = (from[2 k][f], from[2 k + 1][f]).
inline void pair_values(RowsOf<const float> from, std::int64_t keys, std::int64_t features,
                        Bf16Pair* to) {
  for (std::int64_t k = 0; k < keys; k += 2, to += features) {
    const float* const row = from.row(k);
    const bool both = k + 1 < keys;
    map_row<Whole, float>(features, [&](auto part, std::int64_t i) HWY_ATTR {
      const VF low = part.load(row + i);
      const VF high = both ? part.load(from.row(k + 1) + i) : hn::Zero(F32());
      part.store(hn::BitCast(F32(), PairsOf(low, high)), reinterpret_cast<float*>(to + i));
    });
  }
}

/// The products of a block's forward pass in bf16. Tiles hold plain products of queries and keys.
class PairProducts {
 public:
  static constexpr std::int64_t kBlockRows = kBlockRowsOf<float>;
  static constexpr Fixed<kBlockRows> kStride{};

  /// Memory in floats.
  static std::int64_t memory(const AttentionShape& shape, std::int64_t tile_keys) {
    return shape.D * kBlockRows / 2 + (tile_keys / 2 + 1) * kBlockRows;
  }
  static std::int64_t tile_keys(std::int64_t /*features*/) { return 64; }

  PairProducts(const AttentionProgram<float>& program, const PairedOperands& operands,
               std::int64_t batch, std::int64_t kv_head, float* memory)
      : features_(program.shape.D), value_features_(program.shape.Dv) {
    const std::int64_t head = batch * program.shape.G + kv_head, Tk = program.shape.Tk;
    keys_ = operands.keys + head * Tk * (features_ / 2);
    values_ = operands.values + head * ((Tk + 1) / 2) * value_features_;
    queries_ = reinterpret_cast<Bf16Pair*>(memory);
    weights_ = queries_ + features_ / 2 * kBlockRows;
  }

  void set_queries(const float* packed) { pair_rows(packed, features_, kBlockRows, queries_); }

  /// Plain products, before modifiers and masks.
  void scores(const Strip& strip, float* data) const {
    const AlongRows<Bf16Pair> keys{keys_ + strip.col * (features_ / 2), features_ / 2};
    product(strip.cols, strip.vectors, features_ / 2, keys, queries_ + strip.vector * kLanes,
            kStride, Put{data, kStride});
  }

  /// out += values * weights of the keys of `run`.
  void read(const Strip& run, const float* weights, float* out) const {
    const std::int64_t first = run.col / 2, pairs = (run.col + run.cols + 1) / 2 - first;
    pair_weights(run, weights, 2 * first - run.col, pairs);
    const AcrossRows<Bf16Pair> values{values_ + first * value_features_, value_features_};
    product(value_features_, run.vectors, pairs, values, weights_, kStride, AddTo{out, kStride});
  }

 private:
  // Pairs of keys from key `begin` of the run on; keys outside of the run have weight 0.
  void pair_weights(const Strip& run, const float* weights, std::int64_t begin,
                    std::int64_t pairs) const {
    const F32 d;
    for (std::int64_t p = 0; p < pairs; ++p) {
      const std::int64_t k = begin + 2 * p;
      for (std::int64_t v = 0; v < run.vectors * kLanes; v += kLanes) {
        const float* const x = weights + k * kBlockRows + v;
        const VF low = k >= 0 ? hn::Load(d, x) : hn::Zero(d);
        const VF high = k + 1 < run.cols ? hn::Load(d, x + kBlockRows) : hn::Zero(d);
        store_pairs(low, high, weights_ + p * kBlockRows + v);
      }
    }
  }

  std::int64_t features_, value_features_;
  const Bf16Pair* keys_;
  const Bf16Pair* values_;
  Bf16Pair* queries_;
  Bf16Pair* weights_;
};

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET == HWY_AVX3

#endif  // per-target include guard
