// The plain twin of the matrix product.
#pragma once

#include "heed/kernels/gemm.h"

namespace heed::kernels::reference {

inline void gemm(GemmShape s, Matrix<double> a, Matrix<double> b, double beta, double* c,
                 std::int64_t ldc) {
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < s.k; ++k) {
        sum += a.data[i * a.row_stride + k * a.column_stride] *
               b.data[k * b.row_stride + j * b.column_stride];
      }
      double& out = c[i * ldc + j];
      out = beta == 0.0 ? sum : beta * out + sum;
    }
  }
}

}  // namespace heed::kernels::reference
