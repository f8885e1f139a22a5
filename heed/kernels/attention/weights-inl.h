// Passes over a tile between the two products of attention: masks, maxima, exponentials.
#if defined(HEED_KERNELS_ATTENTION_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_WEIGHTS_INL_H_
#undef HEED_KERNELS_ATTENTION_WEIGHTS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_WEIGHTS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>

#include "heed/kernels/attention/mask_bits.h"
#include "heed/kernels/attention/plan.h"
#include "heed/kernels/attention/product-inl.h"
#include "heed/kernels/attention/program.h"
#include "heed/kernels/attention/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
inline constexpr T kHiddenOf = -std::numeric_limits<T>::infinity();
inline constexpr float kHidden = kHiddenOf<float>;

/// Some keys of a tile against some of its vectors: a strip in memory.
template <typename T>
struct Piece {
  T* data;
  std::int64_t stride;
  std::int64_t keys, vectors;
  T* at(std::int64_t key, std::int64_t vector) const {
    return data + key * stride + vector * kLanesOf<T>;
  }
};

/// Integers as wide as the elements, from narrower ones in memory.
template <typename T>
using IntegersOf = hn::RebindToSigned<TagOf<T>>;
template <typename T>
HWY_INLINE hn::Vec<IntegersOf<T>> load_integers(const std::int32_t* p) {
  const IntegersOf<T> di;
  const auto x = hn::LoadU(hn::Rebind<std::int32_t, TagOf<T>>(), p);
  if constexpr (sizeof(T) == 8) {
    return hn::PromoteTo(di, x);
  } else {
    return x;
  }
}
template <typename T>
HWY_INLINE hn::Vec<IntegersOf<T>> load_integers(const std::uint8_t* p) {
  const hn::Rebind<std::int32_t, TagOf<T>> d32;
  const auto x = hn::PromoteTo(d32, hn::LoadU(hn::Rebind<std::uint8_t, TagOf<T>>(), p));
  if constexpr (sizeof(T) == 8) {
    return hn::PromoteTo(IntegersOf<T>(), x);
  } else {
    return x;
  }
}

/// Sets scores of keys outside each row's interval to -inf; `col` is the first key.
template <typename T>
void hide_outside(Piece<T> piece, std::int64_t col, const std::int32_t* first,
                  const std::int32_t* last) {
  const TagOf<T> d;
  const IntegersOf<T> di;
  using Integer = hn::TFromD<IntegersOf<T>>;
  const auto from = static_cast<Integer>(col);
  const auto to = static_cast<Integer>(col + piece.keys);
  for (std::int64_t v = 0; v < piece.vectors; ++v) {
    const auto begin = load_integers<T>(first + v * kLanesOf<T>);
    const auto end = load_integers<T>(last + v * kLanesOf<T>);
    const auto hidden = hn::Or(hn::Gt(begin, hn::Set(di, from)), hn::Lt(end, hn::Set(di, to)));
    if (hn::AllFalse(di, hidden)) continue;
    for (std::int64_t k = 0; k < piece.keys; ++k) {
      const auto key = hn::Set(di, from + static_cast<Integer>(k));
      const auto visible = hn::AndNot(hn::Lt(key, begin), hn::Lt(key, end));
      T* const x = piece.at(k, v);
      hn::Store(
          hn::IfThenElse(hn::RebindMask(d, visible), hn::Load(d, x), hn::Set(d, kHiddenOf<T>)), d,
          x);
    }
  }
}

/// Sets scores to -inf where visible[key * stride + row] is 0.
template <typename T>
void hide_masked(Piece<T> piece, const std::uint8_t* visible, std::int64_t stride) {
  const TagOf<T> d;
  const IntegersOf<T> di;
  for (std::int64_t k = 0; k < piece.keys; ++k) {
    for (std::int64_t v = 0; v < piece.vectors; ++v) {
      const auto bytes = load_integers<T>(visible + k * stride + v * kLanesOf<T>);
      const auto hidden = hn::RebindMask(d, hn::Eq(bytes, hn::Zero(di)));
      T* const x = piece.at(k, v);
      hn::Store(hn::IfThenElse(hidden, hn::Set(d, kHiddenOf<T>), hn::Load(d, x)), d, x);
    }
  }
}

/// Sets scores to -inf where bit r % 8 of bytes[r / 8 * stride + key] is 0, r counted from `row`
/// on, which is a multiple of the lanes.
template <typename T>
void hide_bits(Piece<T> piece, std::int64_t row, const std::uint8_t* bytes, std::int64_t stride) {
  const TagOf<T> d;
  const IntegersOf<T> di;
  using Integer = hn::TFromD<IntegersOf<T>>;
  constexpr std::int64_t kWidth = kLanesOf<T>;
  HWY_ALIGN Integer lanes[kWidth];
  for (std::int64_t i = 0; i < kWidth; ++i) lanes[i] = static_cast<Integer>(1 << i);
  const auto bit = hn::Load(di, lanes);
  for (std::int64_t v = 0; v < piece.vectors; ++v, row += kWidth) {
    const std::uint8_t* const from = bytes + row / kMaskRows * stride;
    const auto shift = static_cast<int>(row % kMaskRows);
    for (std::int64_t k = 0; k < piece.keys; ++k) {
      int bits = from[k] >> shift;
      if constexpr (kWidth > kMaskRows) bits |= from[stride + k] << kMaskRows;
      const auto visible = hn::TestBit(hn::Set(di, static_cast<Integer>(bits)), bit);
      T* const x = piece.at(k, v);
      const VecOf<T> score = hn::Load(d, x);
      hn::Store(hn::IfThenElse(hn::RebindMask(d, visible), score, hn::Set(d, kHiddenOf<T>)), d, x);
    }
  }
}

/// Sets scores below a row's cut, or equal to it but of a later key, to -inf.
template <typename T>
void hide_below(Piece<T> piece, std::int64_t col, const T* cut_scores,
                const std::int32_t* cut_keys) {
  const TagOf<T> d;
  const IntegersOf<T> di;
  for (std::int64_t v = 0; v < piece.vectors; ++v) {
    const VecOf<T> cut = hn::LoadU(d, cut_scores + v * kLanesOf<T>);
    const auto last = load_integers<T>(cut_keys + v * kLanesOf<T>);
    for (std::int64_t k = 0; k < piece.keys; ++k) {
      T* const x = piece.at(k, v);
      const VecOf<T> s = hn::Load(d, x);
      const auto later = hn::Gt(hn::Set(di, static_cast<hn::TFromD<IntegersOf<T>>>(col + k)), last);
      const auto below = hn::Or(hn::Lt(s, cut), hn::And(hn::Eq(s, cut), hn::RebindMask(d, later)));
      hn::Store(hn::IfThenElse(below, hn::Set(d, kHiddenOf<T>), s), d, x);
    }
  }
}

/// top[row] = max(top[row], scores).
template <typename T>
void raise_maxima(Piece<T> piece, T* top) {
  const TagOf<T> d;
  for (std::int64_t v = 0; v < piece.vectors; ++v) {
    VecOf<T> most = hn::Set(d, kHiddenOf<T>);
    for (std::int64_t k = 0; k < piece.keys; ++k) {
      most = hn::Max(most, hn::Load(d, piece.at(k, v)));
    }
    T* const x = top + v * kLanesOf<T>;
    hn::Store(hn::Max(hn::Load(d, x), most), d, x);
  }
}

// Weights are powers of two: 2^x = 2^n 2^r with n the nearest integer. Added to kIntegerShift, n is
// in the lowest bits, and a shift moves it into the exponent (math-inl.h).
template <typename T>
struct WeightMath;

template <>
struct WeightMath<float> {
  static constexpr float kIntegerShift = math::kToInteger + math::kBias;
  static constexpr float kLowest = -127.0f, kHighest = 128.0f;  // 2^n is 0, and infinity
  static constexpr int kMantissaBits = 23;
  /// Coefficients of 2^r for |r| <= 1/2 from the highest down to the first; relative error 1e-7.
  static constexpr float kPowers[] = {0.00132647f, 0.00967151f, 0.05550734f, 0.24022242f,
                                      0.69314698f};
};

template <>
struct WeightMath<double> {
  static constexpr double kIntegerShift = 0x1.8p52 + 1023.0;
  static constexpr double kLowest = -1023.0, kHighest = 1024.0;
  static constexpr int kMantissaBits = 52;
  /// Relative error 2e-17 before rounding.
  static constexpr double kPowers[] = {
      0x1.e9d3fe3952179p-32, 0x1.e6063f7217bc6p-28, 0x1.b524fae627834p-24, 0x1.62bfd47773353p-20,
      0x1.ffcbfc670dcd4p-17, 0x1.430913096fd9fp-13, 0x1.5d87fe78a5276p-10, 0x1.3b2ab6fba1ddap-7,
      0x1.c6b08d704a0c2p-5,  0x1.ebfbdff82c598p-3,  0x1.62e42fefa39efp-1};
};

/// x = 2^n 2^(k x) for |k x| <= 1/2 and shifted = (n + kIntegerShift) / k, where k is 1 or 2: 0 for
/// n = kLowest, infinity from n = kHighest on. The bound is applied to the integer: four such
/// instructions run per cycle, but only two floating-point ones. Several vectors are processed
/// together, step by step: four of them take 4.3 cycles per vector of floats, one at a time 4.7
/// (Zen 4). All k give the same bits, because they differ by powers of two.
template <typename T, int k, int M>
HWY_INLINE void PowersOfTwo(VecOf<T> (&shifted)[M], VecOf<T> (&x)[M]) {
  using Math = WeightMath<T>;
  static_assert(k == 1 || k == 2);
  constexpr int kDegree = std::size(Math::kPowers);
  const TagOf<T> d;
  const IntegersOf<T> di;
  const hn::RebindToUnsigned<TagOf<T>> du;
  const auto highest = hn::BitCast(di, hn::Set(d, (Math::kIntegerShift + Math::kHighest) / k));
  constexpr auto coefficient = [](int c) constexpr {  // times k^(kDegree - c)
    return Math::kPowers[c] * static_cast<T>(k == 1 ? 1 : 1 << (kDegree - c));
  };
  VecOf<T> p[M];
#pragma GCC unroll 4
  for (int i = 0; i < M; ++i) p[i] = hn::Set(d, coefficient(0));
#pragma GCC unroll 16
  for (int c = 1; c <= kDegree; ++c) {
    const VecOf<T> next = hn::Set(d, c == kDegree ? T(1) : coefficient(c));
#pragma GCC unroll 4
    for (int i = 0; i < M; ++i) p[i] = hn::MulAdd(p[i], x[i], next);
  }
#pragma GCC unroll 4
  for (int i = 0; i < M; ++i) {
    const auto bounded = hn::BitCast(du, hn::Min(hn::BitCast(di, shifted[i]), highest));
    x[i] = hn::Mul(p[i], hn::BitCast(d, hn::ShiftLeft<Math::kMantissaBits>(bounded)));
  }
}

/// 2^x: 0 below the smallest normal number, infinity above the largest, NaN for NaN.
template <typename T>
HWY_INLINE VecOf<T> Exp2Weight(VecOf<T> x) {
  const TagOf<T> d;
  const VecOf<T> shift = hn::Set(d, WeightMath<T>::kIntegerShift);
  x = math::AtLeast(hn::Set(d, WeightMath<T>::kLowest), x);
  VecOf<T> shifted[] = {hn::Add(x, shift)};
  VecOf<T> power[] = {hn::Sub(x, hn::Sub(shifted[0], shift))};
  PowersOfTwo<T, 1>(shifted, power);
  return power[0];
}

/// f of each lane, for functions in double that need no speed.
template <class D, class F>
HWY_INLINE hn::Vec<D> PerLane(D d, hn::Vec<D> x, const F& f) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (auto& lane : lanes) lane = f(lane);
  return hn::Load(d, lanes);
}
template <typename T>
HWY_INLINE VecOf<T> LogOf(VecOf<T> x) {
  const TagOf<T> d;
  if constexpr (sizeof(T) == 4) {
    return Log(d, x);
  } else {
    return PerLane(d, x, [](T lane) { return std::log(lane); });
  }
}
template <typename T>
HWY_INLINE VecOf<T> TanhOf(VecOf<T> x) {
  const TagOf<T> d;
  if constexpr (sizeof(T) == 4) {
    return Tanh(d, x);
  } else {
    return PerLane(d, x, [](T lane) { return std::tanh(lane); });
  }
}
template <typename T>
HWY_INLINE VecOf<T> SigmoidOf(VecOf<T> x) {
  const TagOf<T> d;
  if constexpr (sizeof(T) == 4) {
    return Sigmoid(d, x);
  } else {
    return PerLane(d, x, [](T lane) { return 1.0 / (1.0 + std::exp(-lane)); });
  }
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
inline constexpr int kPlainUnit = 2;

/// The references of the rows of a block.
template <typename T>
struct References {
  const T* base;
  const T* offset;
  bool far;  ///< Some base is not 0.

  References from(std::int64_t row) const { return {base + row, offset + row, far}; }
};

/// The reference at a row's highest score; its base-2 logarithm is base * unit + log2.
template <typename T>
struct RowReference {
  T base = 0;
  T log2 = kHiddenOf<T>;  ///< -inf if the row has no visible key.

  static RowReference at(T score, T unit) {
    if (std::abs(score * unit) > kMaxOffset) return {score, 0};
    return {0, score * unit};
  }
  /// The base-2 logarithm of a score's weight relative to the reference.
  T log2_of(T score, T unit) const { return (score - base) * unit - log2; }
  /// The base-2 logarithm of the quotient of two references.
  T log2_over(const RowReference& other, T unit) const {
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
template <bool kScaled, bool kFar, Then kThen, typename T>
void weigh(Piece<T> piece, T unit, References<T> refs, T* rows) {
  const TagOf<T> d;
  using Math = WeightMath<T>;
  constexpr int kParts = kScaled ? 1 : kPlainUnit;
  const VecOf<T> factor = hn::Set(d, unit);
  for (std::int64_t v = 0; v < piece.vectors; ++v) {
    [[maybe_unused]] const VecOf<T> base = hn::Load(d, refs.base + v * kLanesOf<T>);
    const VecOf<T> shift = hn::Load(d, refs.offset + v * kLanesOf<T>);
    const VecOf<T> part = hn::Set(d, T(1) / kParts);
    const VecOf<T> to_integer = hn::Mul(hn::Add(hn::Set(d, Math::kIntegerShift), shift), part);
    VecOf<T> lowest = hn::Mul(hn::Sub(hn::Set(d, Math::kLowest), shift), part);
    if constexpr (kScaled) lowest = hn::Div(lowest, factor);
    const VecOf<T> before = hn::Load(d, rows + v * kLanesOf<T>);
    VecOf<T> row = kThen == Then::sum ? hn::Zero(d) : before;
    T* x = piece.at(0, v);
    const auto run = [&]<int M>(std::integral_constant<int, M>) HWY_ATTR {
      VecOf<T> shifted[M], e[M];
#pragma GCC unroll 4
      for (int i = 0; i < M; ++i) {
        VecOf<T> s = hn::Load(d, x + i * piece.stride);
        if constexpr (kFar) s = hn::Sub(s, base);
        s = math::AtLeast(lowest, s);
        shifted[i] = kScaled ? hn::MulAdd(s, factor, to_integer) : hn::Add(s, to_integer);
        const VecOf<T> n = hn::Sub(shifted[i], to_integer);
        e[i] = kScaled ? hn::MulSub(s, factor, n) : hn::Sub(s, n);
      }
      PowersOfTwo<T, kParts>(shifted, e);
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
    if constexpr (kThen == Then::sum) hn::Store(hn::Add(before, row), d, rows + v * kLanesOf<T>);
  }
}

/// Whether products weigh their scores in registers (Weigh below) instead of in a pass over the
/// tile. It takes the registers of AVX-512: with the 16 of AVX2, the exponentials of a block are
/// one long dependency, and the multipliers wait.
#if HWY_TARGET <= HWY_AVX3
inline constexpr bool kWeighInProduct = true;
#else
inline constexpr bool kWeighInProduct = false;
#endif

/// An Out type of products: C = the weights of the scores, with the bits of weigh<false, false>.
/// The columns of C are the rows of a block.
template <Then kThen, typename T, typename Stride>
struct Weigh {
  static constexpr int kParts = kPlainUnit;
  T* c;
  [[no_unique_address]] Stride stride;
  const T* offset;
  T* rows;  ///< Then::sum: added to, for this strip alone. Then::scale: the factors.

  HWY_INLINE VecOf<T> start(int /*i*/, int /*lane*/) const { return hn::Zero(TagOf<T>()); }
  template <int M, int N>
  HWY_INLINE void done(const VecOf<T> (&x)[M][N]) const {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
      column(x, j);
    }
  }
  Weigh from(std::int64_t i, std::int64_t lane) const {
    return {c + i * stride + lane, stride, offset + lane, rows + lane};
  }

 private:
  template <int M, int N>
  HWY_INLINE void column(const VecOf<T> (&x)[M][N], int j) const {
    using Math = WeightMath<T>;
    const TagOf<T> d;
    const std::int64_t lane = j * kLanesOf<T>;
    const VecOf<T> shift = hn::Load(d, offset + lane);
    const VecOf<T> part = hn::Set(d, T(1) / kParts);
    const VecOf<T> to_integer = hn::Mul(hn::Add(hn::Set(d, Math::kIntegerShift), shift), part);
    const VecOf<T> lowest = hn::Mul(hn::Sub(hn::Set(d, Math::kLowest), shift), part);
    VecOf<T> row = hn::Load(d, rows + lane);
    some<0>(x, j, to_integer, lowest, row);
    if constexpr (kThen == Then::sum) hn::Store(row, d, rows + lane);
  }
  // Up to four vectors at a time, as in weigh.
  template <int kFirst, int M, int N>
  HWY_INLINE void some(const VecOf<T> (&x)[M][N], int j, VecOf<T> to_integer, VecOf<T> lowest,
                       VecOf<T>& row) const {
    constexpr int kCount = M - kFirst < 4 ? M - kFirst : M == 6 ? 3 : 4;
    const TagOf<T> d;
    VecOf<T> shifted[kCount], e[kCount];
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) {
      const VecOf<T> s = math::AtLeast(lowest, x[kFirst + i][j]);
      shifted[i] = hn::Add(s, to_integer);
      e[i] = hn::Sub(s, hn::Sub(shifted[i], to_integer));
    }
    PowersOfTwo<T, kParts>(shifted, e);
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) {
      if constexpr (kThen == Then::scale) e[i] = hn::Mul(e[i], row);
      hn::Store(e[i], d, c + (kFirst + i) * stride + j * kLanesOf<T>);
      if constexpr (kThen == Then::sum) row = hn::Add(row, e[i]);
    }
    if constexpr (kFirst + kCount < M) some<kFirst + kCount>(x, j, to_integer, lowest, row);
  }
};

/// scores = 1 / (1 + e^-scores).
template <typename T>
void weigh_sigmoid(Piece<T> piece) {
  const TagOf<T> d;
  for (std::int64_t k = 0; k < piece.keys; ++k) {
    for (std::int64_t v = 0; v < piece.vectors; ++v) {
      T* const x = piece.at(k, v);
      hn::Store(SigmoidOf<T>(hn::Load(d, x)), d, x);
    }
  }
}

/// Turns hidden scores, which are -inf, into weights of 0.
template <typename T>
void weigh_plainly(Piece<T> piece) {
  const TagOf<T> d;
  for (std::int64_t k = 0; k < piece.keys; ++k) {
    for (std::int64_t v = 0; v < piece.vectors; ++v) {
      T* const x = piece.at(k, v);
      const VecOf<T> s = hn::Load(d, x);
      hn::Store(hn::IfThenZeroElse(hn::Eq(s, hn::Set(d, kHiddenOf<T>)), s), d, x);
    }
  }
}

/// Turns gradients of weights into those of scores, for softmax, sigmoid and none; 0 for hidden
/// keys. `weight` has the layout of the piece; `shift` is added to the gradients of a row of
/// softmax.
template <typename T>
void normaliser_backward(Normalise normaliser, Piece<T> piece, const T* weight, const T* shift) {
  const TagOf<T> d;
  const bool plain = normaliser == Normalise::none;
  const VecOf<T> hidden = hn::Set(d, plain ? kHiddenOf<T> : T(0));
  for (std::int64_t k = 0; k < piece.keys; ++k) {
    for (std::int64_t v = 0; v < piece.vectors; ++v) {
      T* const x = piece.at(k, v);
      const std::int64_t r = v * kLanesOf<T>;
      const VecOf<T> w = hn::Load(d, weight + k * piece.stride + r);
      VecOf<T> g = hn::Load(d, x);
      if (normaliser == Normalise::softmax) {
        g = hn::Mul(w, hn::Add(g, hn::Load(d, shift + r)));
      } else if (!plain) {
        g = hn::Mul(g, hn::NegMulAdd(w, w, w));
      }
      hn::Store(hn::IfThenZeroElse(hn::Eq(w, hidden), g), d, x);
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
