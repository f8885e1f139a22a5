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
inline constexpr std::int64_t kLanes = hn::MaxLanes(F32());

/// a(i, k) with a row in memory for each i: keys, in the product with queries.
struct AlongRows {
  const float* data;
  std::int64_t stride;
  HWY_INLINE float at(std::int64_t i, std::int64_t k) const { return data[i * stride + k]; }
  AlongRows from(std::int64_t i) const { return {data + i * stride, stride}; }
};

/// The same with prefetching of other memory.
struct AlongRowsFetching {
  AlongRows rows;
  FetchAhead* ahead;
  HWY_INLINE float at(std::int64_t i, std::int64_t k) const { return rows.at(i, k); }
  AlongRowsFetching from(std::int64_t i) const {
    ahead->some();
    return {rows.from(i), ahead};
  }
};

/// a(i, k) with a row in memory for each k: values, in the product with weights.
struct AcrossRows {
  const float* data;
  std::int64_t stride;
  HWY_INLINE float at(std::int64_t i, std::int64_t k) const { return data[k * stride + i]; }
  AcrossRows from(std::int64_t i) const { return {data + i, stride}; }
};

template <int M, int N>
HWY_INLINE void store_block(const VF (&x)[M][N], float* c, std::int64_t stride) {
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) hn::Store(x[i][j], F32(), c + i * stride + j * kLanes);
  }
}

// Out types: the initial value of C and how its registers are stored. `from` moves to a later row
// and lane.

/// C = the product.
struct Put {
  float* c;
  std::int64_t stride;
  HWY_INLINE VF start(int /*i*/, int /*lane*/) const { return hn::Zero(F32()); }
  template <int M, int N>
  HWY_INLINE void done(const VF (&x)[M][N]) const {
    store_block(x, c, stride);
  }
  Put from(std::int64_t i, std::int64_t lane) const { return {c + i * stride + lane, stride}; }
};

/// C += the product.
struct AddTo {
  float* c;
  std::int64_t stride;
  HWY_INLINE VF start(int i, int lane) const { return hn::Load(F32(), c + i * stride + lane); }
  template <int M, int N>
  HWY_INLINE void done(const VF (&x)[M][N]) const {
    store_block(x, c, stride);
  }
  AddTo from(std::int64_t i, std::int64_t lane) const { return {c + i * stride + lane, stride}; }
};

/// C = weights * (x - delta): the gradient of softmax from that of the weights.
struct SoftmaxGradient {
  float* c;
  std::int64_t stride;
  const float* minus_delta;
  const float* weights;
  HWY_INLINE VF start(int /*i*/, int /*lane*/) const { return hn::Zero(F32()); }
  template <int M, int N>
  HWY_INLINE void done(const VF (&x)[M][N]) const {
    const F32 d;
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
      const VF shift = hn::Load(d, minus_delta + j * kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < M; ++i) {
        const VF weight = hn::Load(d, weights + i * stride + j * kLanes);
        hn::Store(hn::Mul(hn::Add(x[i][j], shift), weight), d, c + i * stride + j * kLanes);
      }
    }
  }
  SoftmaxGradient from(std::int64_t i, std::int64_t lane) const {
    return {c + i * stride + lane, stride, minus_delta + lane, weights + i * stride + lane};
  }
};

/// M rows and N vectors of C, all in registers.
template <int M, int N, class A, class Out>
HWY_INLINE void product_block(std::int64_t depth, A a, const float* HWY_RESTRICT b,
                              std::int64_t b_stride, Out out) {
  const F32 d;
  constexpr int kW = kLanes;
  VF c[M][N];
#pragma GCC unroll 16
  for (int i = 0; i < M; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) c[i][j] = out.start(i, j * kW);
  }
#pragma GCC unroll 2
  for (std::int64_t k = 0; k < depth; ++k) {
    VF row[N];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) row[j] = hn::LoadU(d, b + k * b_stride + j * kW);
#pragma GCC unroll 16
    for (int i = 0; i < M; ++i) {
      const VF factor = hn::Set(d, a.at(i, k));
#pragma GCC unroll 8
      for (int j = 0; j < N; ++j) c[i][j] = hn::MulAdd(factor, row[j], c[i][j]);
    }
  }
  out.done(c);
}

/// All rows of N vectors, M at a time. At least four rows are needed to keep the multipliers busy,
/// so the remaining rows are split into fours where possible.
template <int M, int N, class A, class Out>
HWY_NOINLINE void product_panel(std::int64_t rows, std::int64_t depth, A a, const float* b,
                                std::int64_t b_stride, Out out) {
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
void product(std::int64_t rows, std::int64_t vectors, std::int64_t depth, A a, const float* b,
             std::int64_t b_stride, Out out) {
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
    b += n * kLanes;
    out = out.from(0, n * kLanes);
  }
}

}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
