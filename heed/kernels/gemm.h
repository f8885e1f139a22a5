// Matrix products: the only file pair that knows oneDNN. A product is cut into a grid of tiles
// fixed by its shape; each tile is one single-threaded oneDNN call, so the bits do not depend on
// the number of threads.
#pragma once

#include <cstdint>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/nest.h"

namespace heed::kernels {

/// A matrix somewhere in memory; one of the two strides must be 1 (or its extent at most 1).
template <typename T>
struct Matrix {
  const T* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

struct GemmShape {
  std::int64_t m, n, k;
};

/// True when gemm can read a matrix of that many rows and columns with these strides in place.
bool gemm_reads(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                std::int64_t column_stride);

/// c[m, n] = beta * c + a[m, k] b[k, n], on this thread alone: for callers that bring their own
/// grid. beta is 0 or 1; c has rows `ldc` apart.
void gemm_serial(GemmShape shape, Matrix<float> a, Matrix<float> b, float beta, float* c,
                 std::int64_t ldc);
void gemm_serial(GemmShape shape, Matrix<double> a, Matrix<double> b, double beta, double* c,
                 std::int64_t ldc);

/// What happens to a tile of the result while it is still in cache: y = act(c + bias).
template <typename T>
struct Epilogue {
  const T* bias = nullptr;  // [n], added to every row
  bool activate = false;    // apply `activation`
  Unary activation = Unary::relu;
  T* before = nullptr;  // where c + bias is kept for the backward pass; laid out like c
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
