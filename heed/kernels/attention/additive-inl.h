// Additive scores (Bahdanau et al. 2015): s(i, j) = sum over d of w_d tanh(q_id + k_jd), computed
// in registers; the n x m x D terms are never stored. Queries are stored feature by feature, as for
// products.
#if defined(HEED_KERNELS_ATTENTION_ADDITIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_ADDITIVE_INL_H_
#undef HEED_KERNELS_ATTENTION_ADDITIVE_INL_H_
#else
#define HEED_KERNELS_ATTENTION_ADDITIVE_INL_H_
#endif

#include <cstdint>

#include "heed/kernels/attention/weights-inl.h"

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
};

/// scores = sum over d of w_d tanh(q_d + k_d).
template <typename T>
HWY_NOINLINE void additive_scores(const AdditiveOperands<T>& x, Piece<T> scores) {
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

/// Adds the gradients for a piece of the scores' gradients; its first `rows` lanes are queries, the
/// rest is padding.
template <typename T>
HWY_NOINLINE void additive_backward(const AdditiveOperands<T>& x, Piece<T> d_scores,
                                    std::int64_t rows, const AdditiveGradients<T>& to) {
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
