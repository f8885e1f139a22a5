// Alpha-entmax (Peters, Niculae and Martins 2019), 1 < alpha <= 2:
//
//   weight = max(0, (alpha - 1) score - threshold)^(1 / (alpha - 1)),
//
// with the threshold of each row that makes its weights sum to 1. alpha = 2 is sparsemax (Martins
// and Astudillo 2016), alpha -> 1 softmax. Scores are taken relative to the base of their row, its
// highest score, and the threshold is kept as a level in (0, 1]: weights are
// max(0, (alpha - 1) (score - base) + level)^(1 / (alpha - 1)), accurate for scores of any size.
#if defined(HEED_KERNELS_ATTENTION_ENTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_ENTMAX_INL_H_
#undef HEED_KERNELS_ATTENTION_ENTMAX_INL_H_
#else
#define HEED_KERNELS_ATTENTION_ENTMAX_INL_H_
#endif

#include <cmath>
#include <cstdint>
#include <limits>

#include "heed/kernels/attention/weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// x^exponent for x > 0.
template <typename T>
HWY_INLINE VecOf<T> PowerOf(VecOf<T> x, T exponent) {
  const TagOf<T> d;
  if constexpr (sizeof(T) == 4) {
    constexpr float kLog2E = 0x1.715476p0f;
    return Exp2Weight<T>(hn::Mul(Log(d, x), hn::Set(d, exponent * kLog2E)));
  } else {
    return PerLane(d, x, [exponent](T lane) { return std::pow(lane, exponent); });
  }
}

// The powers of entmax, of z >= 0 and of weights. `weight` is z^(1 / (alpha - 1)), `slope` the
// same to the power of 2 - alpha, which is the slope of a weight by its score; both are 0 for z = 0
// and NaN for NaN. `slope_of` is a weight's slope, for weights > 0.
template <typename T>
struct SparsemaxPowers {
  using V = VecOf<T>;
  explicit SparsemaxPowers(T /*alpha*/) {}
  HWY_INLINE V weight(V z) const { return z; }
  HWY_INLINE V slope(V z, V /*weight*/) const {
    const TagOf<T> d;
    return hn::IfThenZeroElse(hn::Eq(z, hn::Zero(d)), hn::Set(d, T(1)));
  }
  HWY_INLINE V slope_of(V /*weight*/) const { return hn::Set(TagOf<T>(), T(1)); }
};

template <typename T>
struct SquarePowers {
  using V = VecOf<T>;
  explicit SquarePowers(T /*alpha*/) {}
  HWY_INLINE V weight(V z) const { return hn::Mul(z, z); }
  HWY_INLINE V slope(V z, V /*weight*/) const { return z; }
  HWY_INLINE V slope_of(V weight) const { return hn::Sqrt(weight); }
};

template <typename T>
struct AnyPowers {
  using V = VecOf<T>;
  explicit AnyPowers(T alpha) : exponent(T(1) / (alpha - T(1))), rest(T(2) - alpha) {}
  HWY_INLINE V weight(V z) const {
    const TagOf<T> d;
    return hn::IfThenZeroElse(hn::Eq(z, hn::Zero(d)), PowerOf<T>(z, exponent));
  }
  HWY_INLINE V slope(V z, V weight) const {
    return hn::IfThenZeroElse(hn::Eq(z, hn::Zero(TagOf<T>())), hn::Div(weight, z));
  }
  HWY_INLINE V slope_of(V weight) const { return PowerOf<T>(weight, rest); }

  T exponent, rest;
};

/// Calls f with the powers of alpha.
template <typename T, class F>
HWY_INLINE void with_entmax_powers(T alpha, const F& f) {
  if (alpha == T(2)) return f(SparsemaxPowers<T>(alpha));
  if (alpha == T(1.5)) return f(SquarePowers<T>(alpha));
  f(AnyPowers<T>(alpha));
}

/// max(0, (score - base) * step + level); NaN for NaN.
template <typename T>
HWY_INLINE VecOf<T> AboveThreshold(VecOf<T> score, VecOf<T> base, VecOf<T> step, VecOf<T> level) {
  const VecOf<T> z = hn::MulAdd(hn::Sub(score, base), step, level);
  return hn::IfThenZeroElse(hn::Le(z, hn::Zero(TagOf<T>())), z);
}

/// The levels of all rows of a piece with all of their scores, which are -inf where hidden; base
/// and level have a number per row.
///
/// With p = 1 / (alpha - 1) >= 1, the p-norm of the numbers above the threshold is convex in the
/// level, so Newton's method decreases the level from 1 to the root of norm = 1 and passes it by
/// rounding alone: then one step upwards is the last. Equal scores take one step for any alpha. A
/// row that has arrived stays as it is, so it does not depend on the other rows of its vector.
template <typename T>
void find_entmax_levels(Piece<T> piece, T alpha, const T* base, T* level) {
  constexpr int kMostSteps = 100;
  const TagOf<T> d;
  const VecOf<T> step = hn::Set(d, alpha - T(1));
  const VecOf<T> least = hn::Set(d, 4 * std::numeric_limits<T>::epsilon());  // relative
  with_entmax_powers(alpha, [&](const auto& powers) HWY_ATTR {
    for (std::int64_t v = 0; v < piece.vectors; ++v) {
      const VecOf<T> zero_at = hn::Load(d, base + v * kLanesOf<T>);
      VecOf<T> at = hn::Set(d, T(1));
      auto arrived = hn::Lt(at, hn::Zero(d));  // no row yet
      for (int i = 0; i < kMostSteps; ++i) {
        VecOf<T> total = hn::Zero(d), slopes = hn::Zero(d);
        for (std::int64_t k = 0; k < piece.keys; ++k) {
          const VecOf<T> z = AboveThreshold<T>(hn::Load(d, piece.at(k, v)), zero_at, step, at);
          const VecOf<T> weight = powers.weight(z);
          total = hn::Add(total, weight);
          slopes = hn::Add(slopes, powers.slope(z, weight));
        }
        const VecOf<T> down = hn::Div(hn::Sub(total, powers.slope_of(total)), slopes);
        // Rows without keys and rows with NaN stay.
        const auto any = hn::AndNot(arrived, hn::Gt(slopes, hn::Zero(d)));
        const auto moves = hn::And(any, hn::Gt(hn::Abs(down), hn::Mul(least, at)));
        if (hn::AllFalse(d, moves)) break;
        at = hn::IfThenElse(moves, hn::Sub(at, down), at);
        arrived = hn::Or(arrived, hn::Lt(down, hn::Zero(d)));
      }
      hn::Store(at, d, level + v * kLanesOf<T>);
    }
  });
}

/// Scores become weights.
template <typename T>
void weigh_entmax(Piece<T> piece, T alpha, const T* base, const T* level) {
  const TagOf<T> d;
  const VecOf<T> step = hn::Set(d, alpha - T(1));
  with_entmax_powers(alpha, [&](const auto& powers) HWY_ATTR {
    for (std::int64_t k = 0; k < piece.keys; ++k) {
      for (std::int64_t v = 0; v < piece.vectors; ++v) {
        T* const x = piece.at(k, v);
        const std::int64_t r = v * kLanesOf<T>;
        const VecOf<T> z =
            AboveThreshold<T>(hn::Load(d, x), hn::Load(d, base + r), step, hn::Load(d, level + r));
        hn::Store(powers.weight(z), d, x);
      }
    }
  });
}

/// Adds up the slopes of weights, and the slopes times the gradients of the weights in `piece`, for
/// each row. `weight` has the layout of the piece; a weight of 0 contributes nothing.
template <typename T>
void sum_entmax_slopes(Piece<T> piece, T alpha, const T* weight, T* slopes, T* products) {
  const TagOf<T> d;
  with_entmax_powers(alpha, [&](const auto& powers) HWY_ATTR {
    for (std::int64_t v = 0; v < piece.vectors; ++v) {
      const std::int64_t r = v * kLanesOf<T>;
      VecOf<T> slope_sum = hn::Load(d, slopes + r), product_sum = hn::Load(d, products + r);
      for (std::int64_t k = 0; k < piece.keys; ++k) {
        const VecOf<T> w = hn::Load(d, weight + k * piece.stride + r);
        const auto none = hn::Eq(w, hn::Zero(d));
        const VecOf<T> slope = powers.slope_of(w);
        const VecOf<T> g = hn::Load(d, piece.at(k, v));
        slope_sum = hn::Add(slope_sum, hn::IfThenZeroElse(none, slope));
        product_sum = hn::Add(product_sum, hn::IfThenZeroElse(none, hn::Mul(slope, g)));
      }
      hn::Store(slope_sum, d, slopes + r);
      hn::Store(product_sum, d, products + r);
    }
  });
}

/// Turns gradients of weights into those of scores: slope * (gradient + shift[row]); 0 for weights
/// of 0.
template <typename T>
void entmax_backward(Piece<T> piece, T alpha, const T* weight, const T* shift) {
  const TagOf<T> d;
  with_entmax_powers(alpha, [&](const auto& powers) HWY_ATTR {
    for (std::int64_t k = 0; k < piece.keys; ++k) {
      for (std::int64_t v = 0; v < piece.vectors; ++v) {
        T* const x = piece.at(k, v);
        const std::int64_t r = v * kLanesOf<T>;
        const VecOf<T> w = hn::Load(d, weight + k * piece.stride + r);
        const VecOf<T> g = hn::Add(hn::Load(d, x), hn::Load(d, shift + r));
        const VecOf<T> gradient = hn::Mul(powers.slope_of(w), g);
        hn::Store(hn::IfThenZeroElse(hn::Eq(w, hn::Zero(d)), gradient), d, x);
      }
    }
  });
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
