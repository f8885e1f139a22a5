// Slow products for tiles with hidden values that are not finite: a weight of 0 times NaN is 0.
#if defined(HEED_KERNELS_ATTENTION_VISIBLE_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_VISIBLE_PRODUCTS_INL_H_
#undef HEED_KERNELS_ATTENTION_VISIBLE_PRODUCTS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_VISIBLE_PRODUCTS_INL_H_
#endif

#include <cstdint>

#include "heed/kernels/attention/product-inl.h"
#include "heed/kernels/attention/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Whether rows of contiguous elements contain neither NaN nor infinity.
template <typename T = float>
bool all_finite(RowsOf<const T> x, std::int64_t rows, std::int64_t cols) {
  const TagOf<T> d;
  VecOf<T> sum = hn::Zero(d);
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* const p = x.row(r);
    const auto add = [p](auto part, std::int64_t i, VecOf<T> total) HWY_ATTR {
      return hn::MulAdd(part.load(p + i), hn::Zero(TagOf<T>()), total);  // x * 0 is 0, or NaN
    };
    sum =
        fold_row<T>(cols, sum, add, [](VecOf<T> a, VecOf<T> b) HWY_ATTR { return hn::Add(a, b); });
  }
  return hn::AllTrue(d, hn::Eq(sum, hn::Zero(d)));
}

/// product(..., AddTo) for weights in B, where a weight of 0 contributes nothing, even times NaN.
template <class A, class Out, typename T = typename A::Value>
HWY_NOINLINE void product_of_visible(std::int64_t rows, std::int64_t vectors, std::int64_t depth,
                                     A a, const T* b, std::int64_t b_stride, Out out) {
  const TagOf<T> d;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t v = 0; v < vectors * kLanesOf<T>; v += kLanesOf<T>) {
      T* const c = out.c + i * out.stride + v;
      VecOf<T> sum = hn::Load(d, c);
      for (std::int64_t k = 0; k < depth; ++k) {
        const VecOf<T> weight = hn::LoadU(d, b + k * b_stride + v);
        const VecOf<T> more = hn::MulAdd(hn::Set(d, a.at(i, k)), weight, sum);
        sum = hn::IfThenElse(hn::Eq(weight, hn::Zero(d)), sum, more);
      }
      hn::Store(sum, d, c);
    }
  }
}

/// The same for weights in A.
template <class A, class Out, typename T = typename A::Value>
HWY_NOINLINE void product_by_visible(std::int64_t rows, std::int64_t vectors, std::int64_t depth,
                                     A a, const T* b, std::int64_t b_stride, Out out) {
  const TagOf<T> d;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const T weight = a.at(i, k);
      if (weight == T(0)) continue;
      for (std::int64_t v = 0; v < vectors * kLanesOf<T>; v += kLanesOf<T>) {
        T* const c = out.c + i * out.stride + v;
        const VecOf<T> row = hn::LoadU(d, b + k * b_stride + v);
        hn::Store(hn::MulAdd(hn::Set(d, weight), row, hn::Load(d, c)), d, c);
      }
    }
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
