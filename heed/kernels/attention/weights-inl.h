// Passes over a tile between the two products of attention: masks, maxima, exponentials; and the
// slow products for tiles with hidden values that are not finite.
#if defined(HEED_KERNELS_ATTENTION_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_WEIGHTS_INL_H_
#undef HEED_KERNELS_ATTENTION_WEIGHTS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_WEIGHTS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "heed/kernels/attention/plan.h"
#include "heed/kernels/attention/product-inl.h"
#include "heed/kernels/attention/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr float kHidden = -std::numeric_limits<float>::infinity();

/// Some keys of a tile against some of its vectors: a strip in memory.
struct Piece {
  float* data;
  std::int64_t stride;
  std::int64_t keys, vectors;
  float* at(std::int64_t key, std::int64_t vector) const {
    return data + key * stride + vector * kLanes;
  }
};

/// Sets scores of keys outside each row's interval to -inf; `col` is the first key.
inline void hide_outside(Piece piece, std::int64_t col, const std::int32_t* first,
                         const std::int32_t* last) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const auto from = static_cast<std::int32_t>(col);
  const auto to = static_cast<std::int32_t>(col + piece.keys);
  for (std::int64_t v = 0; v < piece.vectors; ++v) {
    const auto begin = hn::LoadU(di, first + v * kLanes);
    const auto end = hn::LoadU(di, last + v * kLanes);
    const auto hidden = hn::Or(hn::Gt(begin, hn::Set(di, from)), hn::Lt(end, hn::Set(di, to)));
    if (hn::AllFalse(di, hidden)) continue;
    for (std::int64_t k = 0; k < piece.keys; ++k) {
      const auto key = hn::Set(di, from + static_cast<std::int32_t>(k));
      const auto visible = hn::AndNot(hn::Lt(key, begin), hn::Lt(key, end));
      float* const x = piece.at(k, v);
      hn::Store(hn::IfThenElse(hn::RebindMask(d, visible), hn::Load(d, x), hn::Set(d, kHidden)), d,
                x);
    }
  }
}

/// Sets scores to -inf where visible[key * stride + row] is 0.
inline void hide_masked(Piece piece, const std::uint8_t* visible, std::int64_t stride) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const hn::Rebind<std::uint8_t, F32> du8;
  for (std::int64_t k = 0; k < piece.keys; ++k) {
    for (std::int64_t v = 0; v < piece.vectors; ++v) {
      const auto bytes = hn::PromoteTo(di, hn::LoadU(du8, visible + k * stride + v * kLanes));
      const auto hidden = hn::RebindMask(d, hn::Eq(bytes, hn::Zero(di)));
      float* const x = piece.at(k, v);
      hn::Store(hn::IfThenElse(hidden, hn::Set(d, kHidden), hn::Load(d, x)), d, x);
    }
  }
}

/// Sets scores below a row's cut, or equal to it but of a later key, to -inf.
inline void hide_below(Piece piece, std::int64_t col, const float* cut_scores,
                       const std::int32_t* cut_keys) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  for (std::int64_t v = 0; v < piece.vectors; ++v) {
    const VF cut = hn::LoadU(d, cut_scores + v * kLanes);
    const auto last = hn::LoadU(di, cut_keys + v * kLanes);
    for (std::int64_t k = 0; k < piece.keys; ++k) {
      float* const x = piece.at(k, v);
      const VF s = hn::Load(d, x);
      const auto later = hn::Gt(hn::Set(di, static_cast<std::int32_t>(col + k)), last);
      const auto below = hn::Or(hn::Lt(s, cut), hn::And(hn::Eq(s, cut), hn::RebindMask(d, later)));
      hn::Store(hn::IfThenElse(below, hn::Set(d, kHidden), s), d, x);
    }
  }
}

/// top[row] = max(top[row], scores).
inline void raise_maxima(Piece piece, float* top) {
  const F32 d;
  for (std::int64_t v = 0; v < piece.vectors; ++v) {
    VF most = hn::Set(d, kHidden);
    for (std::int64_t k = 0; k < piece.keys; ++k) {
      most = hn::Max(most, hn::Load(d, piece.at(k, v)));
    }
    float* const x = top + v * kLanes;
    hn::Store(hn::Max(hn::Load(d, x), most), d, x);
  }
}

// Weights are powers of two: 2^x = 2^n 2^r with n the nearest integer. Added to kIntegerShift, n is
// in the lowest bits, and a shift moves it into the exponent (math-inl.h).
inline constexpr float kIntegerShift = math::kToInteger + math::kBias;

/// x = 2^n 2^(k x) for |k x| <= 1/2 and shifted = (n + kIntegerShift) / k, where k is 1 or 2;
/// relative error 1e-7: 0 for n = -127, infinity from n = 128 on. The bound is applied to the
/// integer: four such instructions run per cycle, but only two floating-point ones. Several vectors
/// are processed together, step by step: four of them take 4.3 cycles per vector, one at a time 4.7
/// (Zen 4). All k give the same bits, because they differ by powers of two.
template <int k, int M>
HWY_INLINE void PowersOfTwo(VF (&shifted)[M], VF (&x)[M]) {
  static_assert(k == 1 || k == 2);
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const auto highest = hn::BitCast(di, hn::Set(d, (kIntegerShift + 128.0f) / k));
  VF p[M];
#pragma GCC unroll 4
  for (int i = 0; i < M; ++i) p[i] = hn::Set(d, k * k * k * k * k * 0.00132647f);
  for (const float c : {k * k * k * k * 0.00967151f, k * k * k * 0.05550734f, k * k * 0.24022242f,
                        k * 0.69314698f, 1.0f}) {
#pragma GCC unroll 4
    for (int i = 0; i < M; ++i) p[i] = hn::MulAdd(p[i], x[i], hn::Set(d, c));
  }
#pragma GCC unroll 4
  for (int i = 0; i < M; ++i) {
    const VF bounded = hn::BitCast(d, hn::Min(hn::BitCast(di, shifted[i]), highest));
    x[i] = hn::Mul(p[i], math::PowerOfTwo(d, bounded));
  }
}

/// 2^x: 0 below 2^-127, infinity from 2^128 on, NaN for NaN.
HWY_INLINE VF Exp2Weight(VF x) {
  const F32 d;
  x = math::AtLeast(d, x, -127.0f);
  VF shifted[] = {hn::Add(x, hn::Set(d, kIntegerShift))};
  VF power[] = {hn::Sub(x, hn::Sub(shifted[0], hn::Set(d, kIntegerShift)))};
  PowersOfTwo<1>(shifted, power);
  return power[0];
}

/// The largest offset that weigh accepts.
inline constexpr float kMaxOffset = 0x1p21f;

// A row's weights are 2^((score - base) * unit + offset), where the unit is 2 or kLog2E.
//
// Scores of ordinary size have base 0 and an integer as offset. Beyond kMaxOffset, the product of a
// score and kLog2E differs from the rounded product of the row's maximum by more than the exponent
// of a float can hold, even for that maximum itself. There the maximum is the base: it is
// subtracted first, which is exact for all scores near it.
//
// Tiles of programs that need no scores hold x = log2(weight) / 2 and not log2(weight), because a
// score of 3e38 times kLog2E / 2 is still finite.
inline constexpr float kPlainUnit = 2.0f;

/// The references of the rows of a block.
struct References {
  const float* base;
  const float* offset;
  bool far;  ///< Some base is not 0.

  References from(std::int64_t row) const { return {base + row, offset + row, far}; }
};

/// The reference at a row's highest score; its base-2 logarithm is base * unit + log2.
struct RowReference {
  float base = 0.0f;
  float log2 = kHidden;  ///< -inf if the row has no visible key.

  static RowReference at(float score, float unit) {
    if (std::abs(score * unit) > kMaxOffset) return {score, 0.0f};
    return {0.0f, score * unit};
  }
  /// The base-2 logarithm of a score's weight relative to the reference.
  float log2_of(float score, float unit) const { return (score - base) * unit - log2; }
  /// The base-2 logarithm of the quotient of two references.
  float log2_over(const RowReference& other, float unit) const {
    return (base - other.base) * unit + (log2 - other.log2);
  }
};

/// What else weigh does with the weights.
enum class Then : std::uint8_t {
  sum,    ///< Adds them up, each piece separately first: rows of 8192 then have rounding errors of
          ///< 2e-6, not 1e-5.
  scale,  ///< Multiplies each by rows[r].
};

/// scores = 2^((scores - base) * unit + offset) for integer offsets of at most kMaxOffset in
/// absolute value, which need no instruction because they are part of the shift. If not kScaled,
/// the unit is kPlainUnit, which needs none either: the shift rounds scores to halves. If not kFar,
/// all bases are 0.
template <bool kScaled, bool kFar, Then kThen>
inline void weigh(Piece piece, float unit, References refs, float* rows) {
  const F32 d;
  constexpr int kParts = kScaled ? 1 : static_cast<int>(kPlainUnit);
  const VF factor = hn::Set(d, unit);
  for (std::int64_t v = 0; v < piece.vectors; ++v) {
    [[maybe_unused]] const VF base = hn::Load(d, refs.base + v * kLanes);
    const VF shift = hn::Load(d, refs.offset + v * kLanes);
    const VF part = hn::Set(d, 1.0f / kParts);
    const VF to_integer = hn::Mul(hn::Add(hn::Set(d, kIntegerShift), shift), part);
    VF lowest = hn::Mul(hn::Sub(hn::Set(d, -127.0f), shift), part);
    if constexpr (kScaled) lowest = hn::Div(lowest, factor);
    const VF before = hn::Load(d, rows + v * kLanes);
    VF row = kThen == Then::sum ? hn::Zero(d) : before;
    float* x = piece.at(0, v);
    const auto run = [&]<int M>(std::integral_constant<int, M>) HWY_ATTR {
      VF shifted[M], e[M];
#pragma GCC unroll 4
      for (int i = 0; i < M; ++i) {
        VF s = hn::Load(d, x + i * piece.stride);
        if constexpr (kFar) s = hn::Sub(s, base);
        s = math::AtLeast(lowest, s);
        shifted[i] = kScaled ? hn::MulAdd(s, factor, to_integer) : hn::Add(s, to_integer);
        const VF n = hn::Sub(shifted[i], to_integer);
        e[i] = kScaled ? hn::MulSub(s, factor, n) : hn::Sub(s, n);
      }
      PowersOfTwo<kParts>(shifted, e);
#pragma GCC unroll 4
      for (int i = 0; i < M; ++i, x += piece.stride) {
        if constexpr (kThen == Then::scale) e[i] = hn::Mul(e[i], row);
        hn::Store(e[i], d, x);
        if constexpr (kThen == Then::sum) row = hn::Add(row, e[i]);
      }
    };
    std::int64_t k = piece.keys;
    for (; k >= 4; k -= 4) run(std::integral_constant<int, 4>());
    for (; k > 0; --k) run(std::integral_constant<int, 1>());
    if constexpr (kThen == Then::sum) hn::Store(hn::Add(before, row), d, rows + v * kLanes);
  }
}

/// scores = 1 / (1 + e^-scores).
inline void weigh_sigmoid(Piece piece) {
  const F32 d;
  for (std::int64_t k = 0; k < piece.keys; ++k) {
    for (std::int64_t v = 0; v < piece.vectors; ++v) {
      float* const x = piece.at(k, v);
      hn::Store(Sigmoid(d, hn::Load(d, x)), d, x);
    }
  }
}

/// Turns hidden scores, which are -inf, into weights of 0.
inline void weigh_plainly(Piece piece) {
  const F32 d;
  for (std::int64_t k = 0; k < piece.keys; ++k) {
    for (std::int64_t v = 0; v < piece.vectors; ++v) {
      float* const x = piece.at(k, v);
      const VF s = hn::Load(d, x);
      hn::Store(hn::IfThenZeroElse(hn::Eq(s, hn::Set(d, kHidden)), s), d, x);
    }
  }
}

/// Whether rows of contiguous elements contain neither NaN nor infinity.
inline bool all_finite(RowsOf<const float> x, std::int64_t rows, std::int64_t cols) {
  const F32 d;
  VF sum = hn::Zero(d);
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* const p = x.row(r);
    const auto add = [p](auto part, std::int64_t i, VF total) HWY_ATTR {
      return hn::MulAdd(part.load(p + i), hn::Zero(F32()), total);  // x * 0 is 0, or NaN
    };
    sum = fold_row(cols, sum, add, [](VF a, VF b) HWY_ATTR { return hn::Add(a, b); });
  }
  return hn::AllTrue(d, hn::Eq(sum, hn::Zero(d)));
}

/// product(..., AddTo) for weights in B, where a weight of 0 contributes nothing, even times NaN.
template <class A>
HWY_NOINLINE void product_of_visible(std::int64_t rows, std::int64_t vectors, std::int64_t depth,
                                     A a, const float* b, std::int64_t b_stride, AddTo out) {
  const F32 d;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t v = 0; v < vectors * kLanes; v += kLanes) {
      float* const c = out.c + i * out.stride + v;
      VF sum = hn::Load(d, c);
      for (std::int64_t k = 0; k < depth; ++k) {
        const VF weight = hn::LoadU(d, b + k * b_stride + v);
        const VF more = hn::MulAdd(hn::Set(d, a.at(i, k)), weight, sum);
        sum = hn::IfThenElse(hn::Eq(weight, hn::Zero(d)), sum, more);
      }
      hn::Store(sum, d, c);
    }
  }
}

/// The same for weights in A.
template <class A>
HWY_NOINLINE void product_by_visible(std::int64_t rows, std::int64_t vectors, std::int64_t depth,
                                     A a, const float* b, std::int64_t b_stride, AddTo out) {
  const F32 d;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const float weight = a.at(i, k);
      if (weight == 0.0f) continue;
      for (std::int64_t v = 0; v < vectors * kLanes; v += kLanes) {
        float* const c = out.c + i * out.stride + v;
        const VF row = hn::LoadU(d, b + k * b_stride + v);
        hn::Store(hn::MulAdd(hn::Set(d, weight), row, hn::Load(d, c)), d, c);
      }
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
