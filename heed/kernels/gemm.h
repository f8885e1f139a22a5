// Matrix products; only gemm.cpp uses oneDNN. A product is split into a grid of tiles that depends
// only on its shape. Each tile is one single-threaded oneDNN call, so the bits of the result do not
// depend on the number of threads.
#pragma once

#include <cstdint>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/nest.h"

namespace heed::kernels {

/// A view of a matrix; one of the two strides must be 1 (or its extent at most 1).
template <typename T>
struct Matrix {
  const T* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// Sizes of a product.
struct GemmShape {
  std::int64_t m, n, k;
};

/// True if gemm can read a matrix of these sizes and strides in place.
bool gemm_reads(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                std::int64_t column_stride);

/// Whether rows so far apart fall into few sets of the cache. gemm copies such a right factor at
/// each call; callers that use it often can keep a copy, with kRowPadding more elements a row.
bool rows_collide(std::int64_t row_stride);
inline constexpr std::int64_t kRowPadding = 16;

/// c[m, n] = beta * c + a[m, k] b[k, n] on the calling thread, for callers with their own grid.
/// beta is 0 or 1; rows of c are `ldc` apart.
void gemm_serial(GemmShape shape, Matrix<float> a, Matrix<float> b, float beta, float* c,
                 std::int64_t ldc);
void gemm_serial(GemmShape shape, Matrix<double> a, Matrix<double> b, double beta, double* c,
                 std::int64_t ldc);

/// Work on a tile of the result while it is still in cache: y = act(c + bias).
template <typename T>
struct Epilogue {
  const T* bias = nullptr;  // [n], added to every row
  bool activate = false;    // apply `activation`
  Unary activation = Unary::relu;
  T* before = nullptr;  // receives c + bias for the backward pass; same layout as c
};

/// The batched product on all threads: c[i] = beta * c[i] + a[i] b[i], then the epilogue. Operands
/// of the batch nest: a, b, c (element offsets of each matrix).
template <typename T>
struct GemmCall {
  GemmShape shape;
  Matrix<T> a;
  Matrix<T> b;
  T* c;
  std::int64_t ldc;
  T beta = 0;
  Nest<3> batch = make_nest<3>({}, {});
  Epilogue<T> epilogue = {};
};
void gemm(const GemmCall<float>& call);
void gemm(const GemmCall<double>& call);

}  // namespace heed::kernels
