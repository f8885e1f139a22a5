// Additive scores (Bahdanau et al. 2015): s(i, j) = sum over d of w_d tanh(q_id + k_jd), computed
// in registers; the n x m x D terms are never stored. Queries are stored feature by feature, as for
// products. Lanes are queries, or features where a block has few queries, as in steps of decoders:
// there most lanes would be empty.
#if defined(HEED_KERNELS_ATTENTION_ADDITIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_ADDITIVE_INL_H_
#undef HEED_KERNELS_ATTENTION_ADDITIVE_INL_H_
#else
#define HEED_KERNELS_ATTENTION_ADDITIVE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "heed/base/arena.h"
#include "heed/kernels/attention/weights-inl.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The operands of additive scores: keys in rows, queries feature by feature, D weights.
template <typename T>
struct AdditiveOperands {
  RowsOf<const T> keys;
  const T* queries;
  std::int64_t stride;  ///< Row stride of the queries.
  const T* weights;
  std::int64_t features;
  std::int64_t rows;  ///< Queries in the block.

  /// A choice by the block alone, so that the bits of a row depend on no mask.
  bool lanes_are_features() const { return 2 * rows <= kLanesOf<T>; }
  /// Query r, its features side by side.
  void copy_query(std::int64_t r, T* to) const {
    for (std::int64_t f = 0; f < features; ++f) to[f] = queries[f * stride + r];
  }
};

/// additive_scores with features in lanes.
template <typename T>
HWY_NOINLINE void additive_scores_by_features(const AdditiveOperands<T>& x, Piece<T> scores) {
  const Scratch<T> query(x.features);
  const T *const q = query.data(), *const w = x.weights;
  for (std::int64_t k = 0; k < scores.keys; ++k) {
    hn::Store(hn::Zero(TagOf<T>()), TagOf<T>(), scores.at(k, 0));
  }
  for (std::int64_t r = 0; r < x.rows; ++r) {
    x.copy_query(r, query.data());
    for (std::int64_t k = 0; k < scores.keys; ++k) {
      const T* const key = x.keys.row(k);
      scores.at(k, 0)[r] =
          sum_row<T>(x.features, [=](auto part, std::int64_t f, VecOf<T> sum) HWY_ATTR {
            const VecOf<T> t = TanhOf<T>(hn::Add(part.load(q + f), part.load(key + f)));
            return hn::MulAdd(part.load(w + f), t, sum);
          });
    }
  }
}

/// scores = sum over d of w_d tanh(q_d + k_d).
template <typename T>
HWY_NOINLINE void additive_scores(const AdditiveOperands<T>& x, Piece<T> scores) {
  if (x.lanes_are_features()) return additive_scores_by_features(x, scores);
  const TagOf<T> d;
  for (std::int64_t k = 0; k < scores.keys; ++k) {
    const T* const key = x.keys.row(k);
    for (std::int64_t v = 0; v < scores.vectors; ++v) {
      VecOf<T> sum = hn::Zero(d);
      for (std::int64_t f = 0; f < x.features; ++f) {
        const VecOf<T> q = hn::Load(d, x.queries + f * x.stride + v * kLanesOf<T>);
        sum = hn::MulAdd(hn::Set(d, x.weights[f]), TanhOf<T>(hn::Add(q, hn::Set(d, key[f]))), sum);
      }
      hn::Store(sum, d, scores.at(k, v));
    }
  }
}

/// The gradients of additive scores; results are added to all of them.
template <typename T>
struct AdditiveGradients {
  T* d_queries;  ///< In the layout of the queries.
  RowsOf<T> d_keys;
  T* d_weights;
};

/// additive_backward with features in lanes.
template <typename T>
HWY_NOINLINE void additive_backward_by_features(const AdditiveOperands<T>& x, Piece<T> d_scores,
                                                const AdditiveGradients<T>& to) {
  const Scratch<T> memory(2 * x.features);
  T* const q = memory.data();
  T* const dq = q + x.features;
  const T* const w = x.weights;
  T* const dw = to.d_weights;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    x.copy_query(r, q);
    std::fill_n(dq, x.features, T(0));
    for (std::int64_t k = 0; k < d_scores.keys; ++k) {
      const T gradient = d_scores.at(k, 0)[r];
      if (gradient == T(0)) continue;  // the key may be hidden and NaN
      const VecOf<T> g = hn::Set(TagOf<T>(), gradient), one = hn::Set(TagOf<T>(), T(1));
      const T* const key = x.keys.row(k);
      T* const dk = to.d_keys.row(k);
      map_row<Whole, T>(x.features, [=](auto part, std::int64_t f) HWY_ATTR {
        const VecOf<T> t = TanhOf<T>(hn::Add(part.load(q + f), part.load(key + f)));
        const VecOf<T> slope = hn::Mul(part.load(w + f), hn::NegMulAdd(t, t, one));
        part.store(hn::MulAdd(g, slope, part.load(dq + f)), dq + f);
        part.store(hn::MulAdd(g, slope, part.load(dk + f)), dk + f);
        part.store(hn::MulAdd(g, t, part.load(dw + f)), dw + f);
      });
    }
    for (std::int64_t f = 0; f < x.features; ++f) to.d_queries[f * x.stride + r] += dq[f];
  }
}

/// Adds the gradients for a piece of the scores' gradients; its first `rows` lanes are queries, the
/// rest is padding.
template <typename T>
HWY_NOINLINE void additive_backward(const AdditiveOperands<T>& x, Piece<T> d_scores,
                                    std::int64_t rows, const AdditiveGradients<T>& to) {
  if (x.lanes_are_features()) return additive_backward_by_features(x, d_scores, to);
  const TagOf<T> d;
  const VecOf<T> one = hn::Set(d, T(1));
  for (std::int64_t k = 0; k < d_scores.keys; ++k) {
    const T* const key = x.keys.row(k);
    for (std::int64_t f = 0; f < x.features; ++f) {
      const VecOf<T> weight = hn::Set(d, x.weights[f]);
      VecOf<T> of_key = hn::Zero(d), of_weight = hn::Zero(d);
      for (std::int64_t v = 0; v * kLanesOf<T> < rows; ++v) {
        const std::int64_t at = f * x.stride + v * kLanesOf<T>;
        const VecOf<T> t = TanhOf<T>(hn::Add(hn::Load(d, x.queries + at), hn::Set(d, key[f])));
        const VecOf<T> g = hn::IfThenElseZero(
            hn::FirstN(d, static_cast<std::size_t>(std::min(kLanesOf<T>, rows - v * kLanesOf<T>))),
            hn::Load(d, d_scores.at(k, v)));
        // If the key is hidden, g is 0 and t may be NaN.
        const VecOf<T> slope = hn::Mul(weight, hn::NegMulAdd(t, t, one));
        const auto none = hn::Eq(g, hn::Zero(d));
        const VecOf<T> dx = hn::IfThenZeroElse(none, hn::Mul(g, slope));
        hn::Store(hn::Add(hn::Load(d, to.d_queries + at), dx), d, to.d_queries + at);
        of_key = hn::Add(of_key, dx);
        of_weight = hn::IfThenElse(none, of_weight, hn::MulAdd(g, t, of_weight));
      }
      to.d_keys.row(k)[f] += hn::GetLane(hn::SumOfLanes(d, of_key));
      to.d_weights[f] += hn::GetLane(hn::SumOfLanes(d, of_weight));
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
