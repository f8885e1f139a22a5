// One description of an op gives its value test, gradient test, layout test, instruction-set test
// and thread test.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::test {

using Op = std::function<Tensor(std::span<const Tensor>)>;

struct OpCase {
  std::string name;
  std::vector<Shape> shapes;  // of the floating-point inputs, drawn uniformly from [low, high]
  Op op;                      // must work for f32 and f64 inputs; integer inputs are captured
  double low = -2.0;
  double high = 2.0;
  double tolerance = 2e-6;           // f32 value against f64, relative to max(1, |value|)
  double gradient_tolerance = 1e-5;  // f32 gradient against f64, likewise
  bool differentiable = true;
};

/// Runs all checks of one case: f32 = f64 on every instruction set, gradient = differences, strided
/// inputs = contiguous ones, and the same bits with 1, 2 and 3 threads. Failures are reported
/// through GoogleTest.
void check_op(const OpCase& op_case);

/// The largest |a - b| / max(1, |b|) over all elements; infinite if shapes differ or either has a
/// NaN the other lacks.
double max_relative_error(const Tensor& a, const Tensor& b);

/// The same bits, element by element.
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace heed::test
