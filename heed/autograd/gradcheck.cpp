#include "heed/autograd/gradcheck.h"

#include <cmath>
#include <vector>

#include "heed/autograd/tape.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

double weighted_sum(const Tensor& y, const Tensor& weights) {
  const Tensor values = contiguous_copy(y);
  double sum = 0.0;
  for (std::int64_t i = 0; i < y.numel(); ++i) {
    sum += values.data<double>()[i] * weights.data<double>()[i];
  }
  return sum;
}

}  // namespace

GradCheckResult gradcheck(const std::function<Tensor(std::span<const Tensor>)>& f,
                          std::span<const Tensor> inputs, GradCheckOptions options) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : inputs) {
    Tensor leaf = x.tracks_grad() ? clone_data(x) : x;
    if (x.tracks_grad()) {
      HEED_CHECK(x.dtype() == DType::f64, "[gradcheck] an input is {}: differences need f64",
                 name_of(x.dtype()));
      leaf.requires_grad();
    }
    leaves.push_back(leaf);
  }
  const Tensor y = f(leaves);
  Generator generator(20170612);
  const Tensor weights = normal(y.shape(), 0.0, 1.0, generator, DType::f64);
  if (y.tracks_grad()) backward(y, weights);

  GradCheckResult result;
  const NoGrad off;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    if (!leaves[k].tracks_grad()) continue;
    const Tensor grad =
        leaves[k].grad().defined() ? leaves[k].grad() : zeros(leaves[k].shape(), DType::f64);
    for (std::int64_t i = 0; i < leaves[k].numel(); i += options.every) {
      double& element = leaves[k].mutable_data<double>()[i];
      const double before = element;
      element = before + options.step;
      const double up = weighted_sum(f(leaves), weights);
      element = before - options.step;
      const double down = weighted_sum(f(leaves), weights);
      element = before;
      const double expected = (up - down) / (2.0 * options.step);
      const double actual = grad.data<double>()[i];
      const double error = std::abs(actual - expected) / std::max(1.0, std::abs(expected));
      if (error <= result.worst) continue;  // false for NaN, which is an error
      result.worst = error;
      if (error <= options.tolerance) continue;
      result.ok = false;
      result.message = fmt::format("input {} element {}: the tape says {}, differences say {}", k,
                                   i, actual, expected);
    }
  }
  return result;
}

}  // namespace heed
