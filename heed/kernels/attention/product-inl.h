// The products of attention, register-blocked: C[i][:] = start + sum over k of a(i, k) * B[k][:],
// where a row of C and of B is a few vectors and a(i, k) is one number, read in place and
// broadcast. With neighbouring queries in a vector, keys and values are such numbers and need no
// packing. The initial value of C and what is done with the result are given by one of the Out
// types below.
#if defined(HEED_KERNELS_ATTENTION_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_PRODUCT_INL_H_
#undef HEED_KERNELS_ATTENTION_PRODUCT_INL_H_
#else
#define HEED_KERNELS_ATTENTION_PRODUCT_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "heed/kernels/attention/fetch_ahead.h"
#include "heed/kernels/math-inl.h"
#include "heed/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Lanes as a constant: the size of attention's blocks depends on it.
template <typename T>
inline constexpr std::int64_t kLanesOf = hn::MaxLanes(TagOf<T>());
inline constexpr std::int64_t kLanes = kLanesOf<float>;

/// a(i, k) with a row in memory for each i: keys, in the product with queries.
template <typename T>
struct AlongRows {
  using Value = T;
  const T* data;
  std::int64_t stride;
  HWY_INLINE T at(std::int64_t i, std::int64_t k) const { return data[i * stride + k]; }
  AlongRows from(std::int64_t i) const { return {data + i * stride, stride}; }
};

/// The same with prefetching of other memory.
template <typename T>
struct AlongRowsFetching {
  using Value = T;
  AlongRows<T> rows;
  FetchAhead* ahead;
  HWY_INLINE T at(std::int64_t i, std::int64_t k) const { return rows.at(i, k); }
  AlongRowsFetching from(std::int64_t i) const {
    ahead->some();
    return {rows.from(i), ahead};
  }
};

/// a(i, k) with a row in memory for each k: values, in the product with weights.
template <typename T>
struct AcrossRows {
  using Value = T;
  const T* data;
  std::int64_t stride;
  HWY_INLINE T at(std::int64_t i, std::int64_t k) const { return data[k * stride + i]; }
  AcrossRows from(std::int64_t i) const { return {data + i, stride}; }
};

template <int M, int N, typename T>
HWY_INLINE void store_block(const VecOf<T> (&x)[M][N], T* c, std::int64_t stride) {
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) hn::Store(x[i][j], TagOf<T>(), c + i * stride + j * kLanesOf<T>);
  }
}

// Out types: the initial value of C and how its registers are stored. `from` moves to a later row
// and lane.

/// C = the product.
template <typename T>
struct Put {
  T* c;
  std::int64_t stride;
  HWY_INLINE VecOf<T> start(int /*i*/, int /*lane*/) const { return hn::Zero(TagOf<T>()); }
  template <int M, int N>
  HWY_INLINE void done(const VecOf<T> (&x)[M][N]) const {
    store_block<M, N>(x, c, stride);
  }
  Put from(std::int64_t i, std::int64_t lane) const { return {c + i * stride + lane, stride}; }
};

/// C += the product.
template <typename T>
struct AddTo {
  T* c;
  std::int64_t stride;
  HWY_INLINE VecOf<T> start(int i, int lane) const {
    return hn::Load(TagOf<T>(), c + i * stride + lane);
  }
  template <int M, int N>
  HWY_INLINE void done(const VecOf<T> (&x)[M][N]) const {
    store_block<M, N>(x, c, stride);
  }
  AddTo from(std::int64_t i, std::int64_t lane) const { return {c + i * stride + lane, stride}; }
};

/// C = weights * (x - delta): the gradient of softmax from that of the weights.
template <typename T>
struct SoftmaxGradient {
  T* c;
  std::int64_t stride;
  const T* minus_delta;
  const T* weights;
  HWY_INLINE VecOf<T> start(int /*i*/, int /*lane*/) const { return hn::Zero(TagOf<T>()); }
  template <int M, int N>
  HWY_INLINE void done(const VecOf<T> (&x)[M][N]) const {
    const TagOf<T> d;
    constexpr std::int64_t kStep = kLanesOf<T>;
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
      const VecOf<T> shift = hn::Load(d, minus_delta + j * kStep);
#pragma GCC unroll 16
      for (int i = 0; i < M; ++i) {
        const VecOf<T> weight = hn::Load(d, weights + i * stride + j * kStep);
        hn::Store(hn::Mul(hn::Add(x[i][j], shift), weight), d, c + i * stride + j * kStep);
      }
    }
  }
  SoftmaxGradient from(std::int64_t i, std::int64_t lane) const {
    return {c + i * stride + lane, stride, minus_delta + lane, weights + i * stride + lane};
  }
};

/// M rows and N vectors of C, all in registers.
template <int M, int N, class A, class Out>
HWY_INLINE void product_block(std::int64_t depth, A a, const typename A::Value* HWY_RESTRICT b,
                              std::int64_t b_stride, Out out) {
  using T = typename A::Value;
  const TagOf<T> d;
  constexpr int kW = kLanesOf<T>;
  VecOf<T> c[M][N];
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) c[i][j] = out.start(i, j * kW);
  }
#pragma GCC unroll 2
  for (std::int64_t k = 0; k < depth; ++k) {
    VecOf<T> row[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) row[j] = hn::LoadU(d, b + k * b_stride + j * kW);
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
      const VecOf<T> factor = hn::Set(d, a.at(i, k));
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) c[i][j] = hn::MulAdd(factor, row[j], c[i][j]);
    }
  }
  out.done(c);
}

/// All rows of N vectors, M at a time. At least four rows are needed to keep the multipliers busy,
/// so the remaining rows are split into fours where possible.
template <int M, int N, class A, class Out>
HWY_NOINLINE void product_panel(std::int64_t rows, std::int64_t depth, A a,
                                const typename A::Value* b, std::int64_t b_stride, Out out) {
  const auto run = [&]<int kRows>(std::integral_constant<int, kRows>) HWY_ATTR {
    product_block<kRows, N>(depth, a, b, b_stride, out);
    a = a.from(kRows);
    out = out.from(kRows, 0);
    rows -= kRows;
  };
  while (rows >= M && !(M == 6 && rows == 8)) run(std::integral_constant<int, M>());
  if constexpr (M > 4) {
    while (rows >= 4) run(std::integral_constant<int, 4>());
  }
  if (rows >= 2) run(std::integral_constant<int, 2>());
  if (rows >= 2) run(std::integral_constant<int, 2>());
  if (rows >= 1) run(std::integral_constant<int, 1>());
}

/// C has `rows` rows of `vectors` vectors; B has `depth` such rows.
template <class A, class Out>
void product(std::int64_t rows, std::int64_t vectors, std::int64_t depth, A a,
             const typename A::Value* b, std::int64_t b_stride, Out out) {
#if HWY_TARGET <= HWY_AVX3
  constexpr int kWide = 4, kRows4 = 6, kRows3 = 8, kRows2 = 8;
#else
  constexpr int kWide = 3, kRows4 = 3, kRows3 = 4, kRows2 = 6;
#endif
  while (vectors > 0) {
    std::int64_t n = 1;
    if (kWide == 4 && (vectors == 4 || vectors >= 7)) {
      n = 4;
      product_panel<kRows4, 4>(rows, depth, a, b, b_stride, out);
    } else if (vectors >= 3 && vectors != 4) {
      n = 3;
      product_panel<kRows3, 3>(rows, depth, a, b, b_stride, out);
    } else if (vectors >= 2) {
      n = 2;
      product_panel<kRows2, 2>(rows, depth, a, b, b_stride, out);
    } else {
      product_panel<8, 1>(rows, depth, a, b, b_stride, out);
    }
    vectors -= n;
    b += n * kLanesOf<typename A::Value>;
    out = out.from(0, n * kLanesOf<typename A::Value>);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
