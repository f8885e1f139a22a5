#include "benchmarks/attention/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "benchmarks/support/measure.h"
#include "heed/attention/stages.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

Tensor operand(std::int64_t heads, const AttentionSizes& s, float scale = 1.0f) {
  const NoGrad off;
  Tensor x = randn({1, heads, s.n, s.d});
  if (scale != 1.0f) scale_in_place(x, scale);
  return x;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<float> x = a.to_vector<float>();
  const std::vector<double> y = b.to_vector<double>();
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(x[i] - y[i]));
  return worst;
}

}  // namespace

Tensor Learned::operator()(const Shape& shape) {
  Generator generator(5);
  const NoGrad off;
  return tensors_.emplace_back(
      cast_data(normal(shape, 0.0, 1.0, generator), dtype_).requires_grad());
}

void Learned::forget_gradients() {
  for (Tensor& x : tensors_) x.set_grad({});
}

MakeSpec masked(Mask mask) {
  return [mask](const AttentionSizes&, Learned&) { return AttentionSpec{.mask = mask}; };
}

AttentionSpec biased(const AttentionSizes& s, Learned& learned) {
  return {.modifiers = {dense_bias(learned({1, s.heads, s.n, s.n}))}};
}

AttentionSpec dropped(const AttentionSizes&, Learned&) {
  return {.reweights = {weight_dropout(0.1, 7)}};
}

AttentionProblem::AttentionProblem(const AttentionSizes& s, MakeSpec make, double pairs)
    : sizes_(s),
      make_(std::move(make)),
      pairs_(pairs),
      learned_(DType::f32),
      spec_(make_(s, learned_)) {
  const std::int64_t kv_heads = s.kv_heads == 0 ? s.heads : s.kv_heads;
  q_ = operand(s.heads, s, s.q_scale).requires_grad();
  k_ = operand(kv_heads, s).requires_grad();
  v_ = operand(kv_heads, s).requires_grad();
  dy_ = operand(s.heads, s);
}

double AttentionProblem::forward_flops() const {
  return 4.0 * pairs_ * static_cast<double>(sizes_.heads * sizes_.d);
}

double AttentionProblem::time_forward() const {
  const NoGrad off;
  return seconds([&] { attention(q_, k_, v_, spec_); });
}

// Clears gradients, so that each run makes new ones instead of adding to the last.
void AttentionProblem::forget_gradients() {
  for (Tensor* x : {&q_, &k_, &v_}) x->set_grad({});
  learned_.forget_gradients();
}

double AttentionProblem::time_backward() {
  forget_gradients();
  const Tensor y = attention(q_, k_, v_, spec_);
  return seconds([&] { backward(y, dy_); });
}

double AttentionProblem::time_both() {
  forget_gradients();
  return seconds([&] { backward(attention(q_, k_, v_, spec_), dy_); });
}

AttentionProblem::Errors AttentionProblem::errors() const {
  AttentionSizes one = sizes_;
  one.heads = 1;
  one.kv_heads = 0;
  const auto run = [&](DType dtype) {
    const auto head = [&](const Tensor& x) { return cast_data(slice(x.detach(), 1, 0, 1), dtype); };
    Tensor q = head(q_).requires_grad(), k = head(k_).requires_grad(), v = head(v_).requires_grad();
    Learned learned(dtype);
    const Tensor y = attention(q, k, v, make_(one, learned));
    backward(y, head(dy_));
    return std::array{y.detach(), q.grad(), k.grad(), v.grad()};
  };
  const auto fast = run(DType::f32), plain = run(DType::f64);
  Errors worst{largest_difference(fast[0], plain[0]), 0.0};
  for (std::size_t i = 1; i < fast.size(); ++i) {
    worst.backward = std::max(worst.backward, largest_difference(fast[i], plain[i]));
  }
  return worst;
}

double all_pairs(std::int64_t n) { return static_cast<double>(n * n); }

double causal_pairs(std::int64_t n) { return static_cast<double>(n * (n + 1) / 2); }

double window_pairs(std::int64_t n, std::int64_t left) {
  double pairs = 0.0;
  for (std::int64_t i = 0; i < n; ++i) pairs += static_cast<double>(std::min(i, left) + 1);
  return pairs;
}

}  // namespace heed::bench
