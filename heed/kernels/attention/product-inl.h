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

/// A distance that is a constant: the addresses of a block are then offsets of one register, which
/// is much of the time of short products.
template <std::int64_t n>
using Fixed = std::integral_constant<std::int64_t, n>;

template <int M, int N, typename T>
HWY_INLINE void store_block(const VecOf<T> (&x)[M][N], T* c, std::int64_t stride) {
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) hn::Store(x[i][j], TagOf<T>(), c + i * stride + j * kLanesOf<T>);
  }
}

// Out types: the initial value of C and how its registers are stored. `from` moves to a later row
// and lane. Stride is std::int64_t or Fixed.

/// C = the product.
template <typename T, typename Stride = std::int64_t>
struct Put {
  T* c;
  [[no_unique_address]] Stride stride;
  HWY_INLINE VecOf<T> start(int /*i*/, int /*lane*/) const { return hn::Zero(TagOf<T>()); }
  template <int M, int N>
  HWY_INLINE void done(const VecOf<T> (&x)[M][N]) const {
    store_block<M, N>(x, c, stride);
  }
  Put from(std::int64_t i, std::int64_t lane) const { return {c + i * stride + lane, stride}; }
};

/// C += the product.
template <typename T, typename Stride = std::int64_t>
struct AddTo {
  T* c;
  [[no_unique_address]] Stride stride;
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
template <typename T, typename Stride = std::int64_t>
struct SoftmaxGradient {
  T* c;
  [[no_unique_address]] Stride stride;
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

/// How a product multiplies elements of one type: a number of A, repeated in all lanes, by a vector
/// of B, added to a vector of C.
template <typename Value>
struct Multiply {
  using Sum = Value;
  using Vector = VecOf<Value>;
  static HWY_INLINE Vector load(const Value* b) { return hn::LoadU(TagOf<Value>(), b); }
  static HWY_INLINE Vector repeat(Value a) { return hn::Set(TagOf<Value>(), a); }
  static HWY_INLINE Vector add(Vector a, Vector b, Vector c) { return hn::MulAdd(a, b, c); }
};

/// M rows and N vectors of C, all in registers.
template <int M, int N, class A, typename Stride, class Out>
HWY_INLINE void product_block(std::int64_t depth, A a, const typename A::Value* HWY_RESTRICT b,
                              Stride b_stride, Out out) {
  using By = Multiply<typename A::Value>;
  using T = typename By::Sum;
  constexpr int kW = kLanesOf<T>;
  VecOf<T> c[M][N];
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) c[i][j] = out.start(i, j * kW);
  }
#pragma GCC unroll 2
  for (std::int64_t k = 0; k < depth; ++k) {
    typename By::Vector row[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) row[j] = By::load(b + k * b_stride + j * kW);
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
      const auto factor = By::repeat(a.at(i, k));
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) c[i][j] = By::add(factor, row[j], c[i][j]);
    }
  }
  out.done(c);
}

/// kRows rows of N vectors; moves on to the next ones.
template <int kRows, int N, class A, typename Stride, class Out>
HWY_INLINE void product_rows(std::int64_t& rows, std::int64_t depth, A& a,
                             const typename A::Value* b, Stride b_stride, Out& out) {
  product_block<kRows, N>(depth, a, b, b_stride, out);
  a = a.from(kRows);
  out = out.from(kRows, 0);
  rows -= kRows;
}

/// All rows of N vectors, M at a time. At least four rows are needed to keep the multipliers busy,
/// so the remaining rows are split into fours where possible.
template <int M, int N, class A, typename Stride, class Out>
HWY_NOINLINE void product_panel(std::int64_t rows, std::int64_t depth, A a,
                                const typename A::Value* b, Stride b_stride, Out out) {
  while (rows >= M && !(M == 6 && rows == 8)) {
    product_rows<M, N>(rows, depth, a, b, b_stride, out);
  }
  if constexpr (M > 4) {
    while (rows >= 4) product_rows<4, N>(rows, depth, a, b, b_stride, out);
  }
  if (rows >= 2) product_rows<2, N>(rows, depth, a, b, b_stride, out);
  if (rows >= 2) product_rows<2, N>(rows, depth, a, b, b_stride, out);
  if (rows >= 1) product_rows<1, N>(rows, depth, a, b, b_stride, out);
}

/// C has `rows` rows of `vectors` vectors; B has `depth` such rows.
template <class A, typename Stride, class Out>
void product(std::int64_t rows, std::int64_t vectors, std::int64_t depth, A a,
             const typename A::Value* b, Stride b_stride, Out out) {
#if HWY_TARGET <= HWY_AVX3
  constexpr int kWide = 4, kRows4 = 6, kRows3 = 8, kRows2 = 8;
#else
  constexpr int kWide = 3, kRows4 = 3, kRows3 = 4, kRows2 = 6;
#endif
  constexpr std::int64_t kWidth = kLanesOf<typename Multiply<typename A::Value>::Sum>;
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
    b += n * kWidth;
    out = out.from(0, n * kWidth);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
