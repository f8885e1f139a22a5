#include "tests/support/op_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/base/isa.h"
#include "heed/base/threads.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/isa_guard.h"

namespace heed::test {
namespace {

std::vector<Tensor> make_inputs(const OpCase& c, DType dtype) {
  Generator generator(42);
  std::vector<Tensor> inputs;
  for (const Shape& shape : c.shapes) {
    // Drawn in f32 so that both precisions see exactly the same numbers.
    Tensor x = cast_data(uniform(shape, c.low, c.high, generator), dtype);
    inputs.push_back(c.differentiable ? x.requires_grad() : x);
  }
  return inputs;
}

// The same values in a strange layout: axes stored in reverse order, every second element of a
// larger buffer.
Tensor strided_copy(const Tensor& x) {
  if (x.rank() == 0) return x.detach();
  Dims reversed = x.shape();
  std::reverse(reversed.begin(), reversed.end());
  Dims order = reversed;
  for (int i = 0; i < x.rank(); ++i) order[i] = x.rank() - 1 - i;
  Shape stored = reversed;
  stored[stored.rank() - 1] *= 2;
  const Tensor buffer = full(stored, std::numeric_limits<double>::quiet_NaN(), x.dtype());
  Tensor view = view::permute(view::slice(buffer, -1, 0, stored.back(), 2), order);
  copy_into(view, x);
  return view;
}

struct Outcome {
  Tensor value;
  std::vector<Tensor> gradients;
};

Outcome run(const OpCase& c, std::vector<Tensor> inputs) {
  Outcome outcome{c.op(inputs), {}};
  if (c.differentiable && outcome.value.tracks_grad()) {
    Generator generator(7);
    const Tensor dy =
        cast_data(normal(outcome.value.shape(), 0.0, 1.0, generator), outcome.value.dtype());
    backward(outcome.value, dy);
  }
  for (const Tensor& x : inputs) {
    outcome.gradients.push_back(
        c.differentiable && x.grad().defined() ? x.grad() : zeros(x.shape(), x.dtype()));
  }
  return outcome;
}

void expect_close(const OpCase& c, const Outcome& actual, const Outcome& expected,
                  const std::string& what) {
  EXPECT_LE(max_relative_error(actual.value, expected.value), c.tolerance)
      << c.name << ": value, " << what;
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    EXPECT_LE(max_relative_error(actual.gradients[i], expected.gradients[i]), c.gradient_tolerance)
        << c.name << ": gradient of input " << i << ", " << what;
  }
}

void expect_same_bits(const OpCase& c, const Outcome& a, const Outcome& b,
                      const std::string& what) {
  EXPECT_TRUE(same_bits(a.value, b.value)) << c.name << ": value, " << what;
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    EXPECT_TRUE(same_bits(a.gradients[i], b.gradients[i]))
        << c.name << ": gradient " << i << ", " << what;
  }
}

void check_precisions(const OpCase& c) {
  const Outcome truth = run(c, make_inputs(c, DType::f64));
  for (const Isa isa : tested_isas()) {
    const IsaGuard guard(isa);
    expect_close(c, run(c, make_inputs(c, DType::f32)), truth, std::string(name_of(isa)));
  }
}

void check_layouts(const OpCase& c) {
  std::vector<Tensor> inputs = make_inputs(c, DType::f32);
  std::vector<Tensor> strided;
  for (const Tensor& x : inputs) {
    Tensor view = strided_copy(x);
    strided.push_back(c.differentiable ? view.requires_grad() : view);
  }
  expect_close(c, run(c, strided), run(c, inputs), "strided inputs");
}

void check_threads(const OpCase& c) {
  const int before = num_threads();
  set_num_threads(1);
  const Outcome one = run(c, make_inputs(c, DType::f32));
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    expect_same_bits(c, run(c, make_inputs(c, DType::f32)), one,
                     std::to_string(threads) + " threads");
  }
  set_num_threads(before);
}

// Differences cost two calls per element: done where that is quick.
constexpr std::int64_t kGradCheckElements = 600;

void check_gradient(const OpCase& c) {
  std::int64_t elements = 0;
  for (const Shape& shape : c.shapes) elements += numel(shape);
  if (!c.differentiable || elements > kGradCheckElements) return;
  const GradCheckResult result = gradcheck(c.op, make_inputs(c, DType::f64));
  EXPECT_TRUE(result.ok) << c.name << ": " << result.message;
}

}  // namespace

void check_op(const OpCase& c) {
  check_precisions(c);
  check_gradient(c);
  check_layouts(c);
  check_threads(c);
}

double max_relative_error(const Tensor& a, const Tensor& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.shape() != b.shape()) return kInfinity;
  const std::vector<double> x = cast_data(contiguous_copy(a), DType::f64).to_vector<double>();
  const std::vector<double> y = cast_data(contiguous_copy(b), DType::f64).to_vector<double>();
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) != std::isnan(y[i])) return kInfinity;
    if (std::isnan(x[i]) || x[i] == y[i]) continue;
    worst = std::max(worst, std::abs(x[i] - y[i]) / std::max(1.0, std::abs(y[i])));
  }
  return worst;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor x = contiguous_copy(a);
  const Tensor y = contiguous_copy(b);
  return x.numel() == 0 ||
         std::memcmp(
             x.storage()->data() + x.offset() * static_cast<std::int64_t>(size_of(x.dtype())),
             y.storage()->data() + y.offset() * static_cast<std::int64_t>(size_of(y.dtype())),
             static_cast<std::size_t>(x.numel()) * size_of(x.dtype())) == 0;
}

}  // namespace heed::test
