// Additive masks of large finite numbers, as many programs write them: keys with such a bias have
// weight 0 beside others, and a row that has no others gives all of them equal weights.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/observers.h"
#include "heed/autograd/tape.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/attention/plain_attention.h"
#include "tests/support/isa_guard.h"
#include "tests/support/op_case.h"

namespace heed::huge_scores_test {
namespace {

using test::max_relative_error;

constexpr std::int64_t H = 2, Tk = 200, D = 8;
using Hidden = std::function<bool(std::int64_t j)>;

struct Operands {
  Tensor q, k, v, dy;
};

Operands operands(std::int64_t Tq, DType dtype) {
  Generator generator(11);
  const auto draw = [&](const Shape& shape) {
    // bf16 first, so that all dtypes have the same numbers.
    return cast_data(cast_data(normal(shape, 0.0, 1.0, generator), DType::bf16), dtype);
  };
  return {draw({1, H, Tq, D}), draw({1, H, Tk, D}), draw({1, H, Tk, D}), draw({1, H, Tq, D})};
}

struct Outcome {
  Tensor y, dq, dk, dv;
};

Outcome run(Operands x, const std::function<Tensor(const Operands&)>& f) {
  if (x.q.dtype() == DType::bf16) return {f(x), {}, {}, {}};  // has no gradients
  for (Tensor* const t : {&x.q, &x.k, &x.v}) t->requires_grad();
  const Tensor y = f(x);
  backward(y, x.dy);
  return {y, x.q.grad(), x.k.grad(), x.v.grad()};
}

Tensor bias_of(const Hidden& huge, double size, DType dtype) {
  std::vector<double> bias;
  for (std::int64_t j = 0; j < Tk; ++j) bias.push_back(huge(j) ? size : 0.0);
  return cast_data(from_values<double>(bias, {1, 1, 1, Tk}), dtype);
}

// The same by a boolean mask, written out in f64. Scores that all have the bias are equal, because
// it swallows the product of query and key.
Outcome expected(std::int64_t Tq, const Hidden& seen, bool equal) {
  Operands x = operands(Tq, DType::f64);
  if (equal) x.q = zeros(x.q.shape(), DType::f64);
  Tensor visible = zeros({1, H, Tq, Tk}, DType::boolean);
  for (std::int64_t i = 0; i < visible.numel(); ++i) {
    visible.mutable_data<bool>()[i] = seen(i % Tk);
  }
  return run(x, [&](const Operands& o) {
    return test::plain_attention(o.q, o.k, o.v, {.seen = visible, .scale = 1.0 / std::sqrt(8.0)});
  });
}

void expect_close(const Outcome& a, const Outcome& b, double tolerance, bool with_dk,
                  const std::string& what) {
  const auto error = [](const Tensor& x, const Tensor& y) {
    return max_relative_error(cast_data(x, DType::f64), y);
  };
  EXPECT_LE(error(a.y, b.y), tolerance) << what << ": output";
  if (!a.dq.defined()) return;
  EXPECT_LE(error(a.dq, b.dq), tolerance * 10) << what << ": dq";
  EXPECT_LE(error(a.dv, b.dv), tolerance * 10) << what << ": dv";
  if (with_dk) {
    EXPECT_LE(error(a.dk, b.dk), tolerance * 10) << what << ": dk";
  }
}

struct Form {
  DType dtype;
  double tolerance;
  std::vector<double> sizes;
};
const Form kForms[] = {{DType::f32, 3e-6, {1e10, 1e20, 1e30, 3e38}},
                       {DType::bf16, 0.02, {1e10, 1e30}},
                       {DType::f64, 1e-12, {1e20, 1e38, 1e308}}};

const std::pair<const char*, Hidden> kPatterns[] = {
    {"start", [](auto j) { return j < 100; }},
    {"end", [](auto j) { return j >= 60; }},
    {"one visible", [](auto j) { return j != 77; }},
    {"all", [](auto) { return true; }},
};

TEST(HugeScores, AreScoresInEveryDtype) {
  for (const Form& form : kForms) {
    for (const std::int64_t Tq : {1, 5, 70}) {
      for (const auto& [name, huge] : kPatterns) {
        for (const double sign : {-1.0, 1.0}) {
          const bool all = std::string(name) == "all", equal = sign > 0.0 || all;
          const Hidden seen = [&, h = huge](std::int64_t j) { return h(j) == equal; };
          const Outcome truth = expected(Tq, seen, equal);
          for (const double size : form.sizes) {
            const DType computed = form.dtype == DType::bf16 ? DType::f32 : form.dtype;
            const Tensor bias = bias_of(huge, sign * size, computed);
            test::for_each_isa([&](Isa) {
              const Outcome actual = run(operands(Tq, form.dtype), [&](const Operands& x) {
                return attention(x.q, x.k, x.v, {.modifiers = {dense_bias(bias)}});
              });
              expect_close(actual, truth, form.tolerance, !equal,
                           std::string(name_of(form.dtype)) + " " + name + " " +
                               std::to_string(sign * size) + ", Tq " + std::to_string(Tq));
            });
          }
        }
      }
    }
  }
}

TEST(HugeScores, ObservedPackedAndDropped) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor bias = bias_of([](auto j) { return j < 100; }, -1e30, dtype);
    const Mask mask = mask_fn([](int, int, int, int j) { return j >= 100; });
    for (const std::int64_t Tq : {5, 70}) {
      const Operands x = operands(Tq, dtype);
      const double tolerance = dtype == DType::f64 ? 1e-13 : 2e-6;
      Tensor by_bias, by_mask;
      const Tensor a = attention(x.q, x.k, x.v,
                                 {.modifiers = {dense_bias(bias)},
                                  .reweights = {weight_dropout(0.3, 4)},
                                  .observers = {observe_weights(by_bias)}});
      const Tensor b = attention(x.q, x.k, x.v,
                                 {.mask = mask,
                                  .reweights = {weight_dropout(0.3, 4)},
                                  .observers = {observe_weights(by_mask)}});
      EXPECT_LE(max_relative_error(a, b), tolerance);
      EXPECT_LE(max_relative_error(by_bias, by_mask), tolerance);

      const auto packed = [](const Tensor& t) {  // [T, H, D]
        return contiguous_copy(view::transpose(view::squeeze(t, 0), 0, 1));
      };
      const AttentionSpec spec{.modifiers = {dense_bias(bias)}};
      const Tensor y = attention_packed(packed(x.q), packed(x.k), packed(x.v),
                                        {.q_starts = {0, Tq}, .k_starts = {0, Tk}}, spec);
      EXPECT_LE(max_relative_error(y, packed(attention(x.q, x.k, x.v, {.mask = mask}))), tolerance);
    }
  }
}

}  // namespace
}  // namespace heed::huge_scores_test
