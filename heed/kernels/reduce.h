// Sums and extremes along the middle axis of [outer, n, inner]; every reduction of a contiguous
// tensor has that form. Long axes are split into chunks that depend only on the shape, and the
// partial results are combined in order. Sums are then parallel and more accurate than one running
// total.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// A reduction.
enum class Reduce : std::uint8_t { sum, maximum, minimum };

/// Sizes of a reduction over n.
struct ReduceShape {
  std::int64_t outer;
  std::int64_t n;
  std::int64_t inner;
};

/// y[o, i] = op over k of x[o, k, i]; an empty axis gives 0, -inf or +inf.
void reduce(Reduce op, ReduceShape shape, const float* x, float* y);
void reduce(Reduce op, ReduceShape shape, const double* x, double* y);

/// The sum of squares of n values, accumulated in double: for gradient norms.
double sum_of_squares(const float* x, std::int64_t n);
double sum_of_squares(const double* x, std::int64_t n);

}  // namespace heed::kernels
