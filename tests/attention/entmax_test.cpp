// Entmax and sparsemax as normalisers of attention, against their closed forms written with ops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/observers.h"
#include "heed/autograd/tape.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/attention/plain_attention.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::entmax_test {
namespace {

constexpr test::CaseSizes kSizes{.B = 2, .H = 2, .G = 1, .Tq = 6, .Tk = 7, .D = 4, .Dv = 3};

// Whether a row with these best k keys keeps the last of them (Martins and Astudillo 2016,
// algorithm 1; Peters et al. 2019, algorithm 2). `best` is sorted, highest first.
bool keeps_last(const std::vector<double>& best, double alpha) {
  const auto k = static_cast<double>(best.size());
  double sum = 0.0, squares = 0.0;
  for (const double x : best) sum += x;
  if (alpha == 2.0) return 1.0 + k * best.back() > sum;
  for (const double x : best) squares += (x - sum / k) * (x - sum / k);
  return squares <= 1.0 && sum / k - std::sqrt((1.0 - squares) / k) <= best.back();
}

// True for the keys with weight, from z = (alpha - 1) scores.
Tensor support_of(const Tensor& z, double alpha) {
  const std::vector<double> x = cast_data(z.detach(), DType::f64).to_vector<double>();
  const std::int64_t keys = z.size(-1);
  Tensor support = empty(z.shape(), DType::boolean);
  for (std::int64_t row = 0; row < z.numel(); row += keys) {
    std::vector<double> sorted(x.begin() + row, x.begin() + row + keys);
    std::ranges::sort(sorted, std::greater<>());
    double least = sorted[0];
    for (std::size_t k = 1; k <= sorted.size() && std::isfinite(sorted[k - 1]); ++k) {
      const std::vector<double> best(sorted.begin(), sorted.begin() + static_cast<long>(k));
      if (keeps_last(best, alpha)) least = sorted[k - 1];
    }
    for (std::int64_t j = row; j < row + keys; ++j) {
      const double value = x[static_cast<std::size_t>(j)];
      support.mutable_data<bool>()[j] = value >= least && std::isfinite(value);
    }
  }
  return support;
}

// With its support known, the threshold of a row has a closed form for alpha = 2 and 1.5.
Tensor plain_entmax(const Tensor& scores, double alpha) {
  const Tensor z = scores * (alpha - 1.0);
  const Tensor support = support_of(z, alpha);
  const Tensor one = where(support, ones(z.shape(), z.dtype()), 0.0);
  const Tensor count = maximum(sum(one, {-1}, {.keep_axes = true}), ones({}, z.dtype()));
  const Tensor mean = sum(where(support, z, 0.0), {-1}, {.keep_axes = true}) / count;
  if (alpha == 2.0) return where(support, z - (mean - 1.0 / count), 0.0);
  const Tensor squares = sum(where(support, square(z - mean), 0.0), {-1}, {.keep_axes = true});
  return where(support, square(z - (mean - sqrt((1.0 - squares) / count))), 0.0);
}

std::vector<Tensor> operands(std::uint64_t seed, DType dtype = DType::f64) {
  Generator generator(seed);
  std::vector<Tensor> x;
  for (const Shape& shape : test::operand_shapes(kSizes)) {
    x.push_back(normal(shape, 0.0, 1.5, generator, dtype));
    x.back().requires_grad();
  }
  return x;
}

// The output and all gradients.
std::vector<Tensor> results(const Tensor& y, std::vector<Tensor> leaves) {
  Generator generator(3);
  backward(y, normal(y.shape(), 0.0, 1.0, generator, y.dtype()));
  std::vector<Tensor> all{y.detach()};
  for (const Tensor& x : leaves) all.push_back(x.grad());
  return all;
}

TEST(Entmax, EqualsItsClosedFormWithEveryStage) {
  for (const double alpha : {1.5, 2.0}) {
    for (const test::StageCase& stage : test::stage_cases(kSizes)) {
      if (stage.name == "top_k_weights" || stage.name == "observers") continue;
      const auto run = [&](bool fused) {
        std::vector<Tensor> x = operands(11);
        Generator generator(5);
        std::vector<Tensor> parameters;
        for (const Shape& shape : stage.parameters) {
          parameters.push_back(normal(shape, 0.0, 1.0, generator, DType::f64));
          x.push_back(parameters.back().requires_grad());
        }
        AttentionSpec spec{.normaliser = entmax_weights(alpha)};
        stage.use(spec, parameters);
        const test::PlainCall plain{
            .stages = {{stage.plain, parameters}},
            .scale = 0.5,
            .normalise = [&](const Tensor& scores) { return plain_entmax(scores, alpha); }};
        return results(fused ? attention(x[0], x[1], x[2], spec)
                             : test::plain_attention(x[0], x[1], x[2], plain),
                       x);
      };
      const std::vector<Tensor> a = run(true), b = run(false);
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_LE(test::max_relative_error(a[i], b[i]), 1e-11)
            << stage.name << ", alpha " << alpha << ", result " << i;
      }
    }
  }
}

// Values in f32 against f64, gradients against differences, odd layouts and threads.
TEST(Entmax, IsAnOp) {
  for (const double alpha : {1.2, 1.5, 1.7, 2.0}) {
    test::check_op({.name = "entmax",
                    .shapes = test::operand_shapes(kSizes),
                    .op =
                        [alpha](test::Tensors in) {
                          return attention(in[0], in[1], in[2],
                                           {.mask = causal(), .normaliser = entmax_weights(alpha)});
                        },
                    .tolerance = 4e-6,
                    .gradient_tolerance = 2e-5});
  }
}

Tensor weights_for(const Tensor& scores, const Normaliser& normaliser) {
  const std::int64_t n = scores.numel();
  const Tensor q = ones({1, 1, 1, 1}), k = reshape(scores, {1, 1, n, 1});
  Tensor weights;
  attention(
      q, k, k,
      {.score = dot_score(), .normaliser = normaliser, .observers = {observe_weights(weights)}});
  return weights;
}

TEST(Entmax, KnownRows) {
  const Tensor scores = from_values<float>({1.0f, 0.8f, 0.1f, -5.0f}, {4});
  const std::vector<float> sparse = weights_for(scores, sparsemax_weights()).to_vector<float>();
  const std::vector<float> expected = {0.6f, 0.4f, 0.0f, 0.0f};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(sparse[i], expected[i], 1e-6f) << i;
  // A score higher than the others by 1 / (alpha - 1) takes all.
  const Tensor far = from_values<float>({7.0f, 5.0f, 4.0f}, {3});
  EXPECT_EQ(weights_for(far, entmax_weights(1.5)).to_vector<float>(),
            (std::vector<float>{1.0f, 0.0f, 0.0f}));
  // Equal scores share.
  for (const double alpha : {1.1, 1.5, 2.0}) {
    for (const float w : weights_for(ones({1000}), entmax_weights(alpha)).to_vector<float>()) {
      ASSERT_NEAR(w, 1e-3f, 1e-8f) << alpha;
    }
  }
}

TEST(Entmax, IsExactForScoresOfAnySize) {
  for (const float size : {1e-3f, 1e4f, 1e30f}) {
    const Tensor scores = from_values<float>({size, size, -size, 0.0f}, {4});
    const std::vector<float> w = weights_for(scores, sparsemax_weights()).to_vector<float>();
    EXPECT_EQ(w[0], w[1]) << size;
    EXPECT_NEAR(w[0] + w[1] + w[2] + w[3], 1.0f, 1e-6f) << size;
    EXPECT_EQ(w[0], size > 1.0f ? 0.5f : w[1]);
  }
}

TEST(Entmax, NearOneItIsCloseToSoftmax) {
  const std::vector<Tensor> x = operands(2);
  const Tensor soft = attention(x[0], x[1], x[2]).detach();
  const Tensor near = attention(x[0], x[1], x[2], {.normaliser = entmax_weights(1.001)}).detach();
  const Tensor far = attention(x[0], x[1], x[2], {.normaliser = entmax_weights(1.5)}).detach();
  EXPECT_LE(test::max_relative_error(near, soft), 0.01);
  EXPECT_GE(test::max_relative_error(far, soft), 0.05);
}

TEST(Entmax, RowsWithoutVisibleKeysAreZero) {
  std::vector<Tensor> x = operands(4, DType::f32);
  const Mask mask = mask_fn([](int, int, int i, int) { return i != 2; });
  const Tensor y = attention(x[0], x[1], x[2], {.mask = mask, .normaliser = sparsemax_weights()});
  for (const Tensor& part : results(y, x)) {
    for (const float value : part.to_vector<float>()) ASSERT_TRUE(std::isfinite(value));
  }
  const Tensor row = slice(y.detach(), 2, 2, 3);
  EXPECT_TRUE(test::same_bits(row, zeros(row.shape())));
}

TEST(Entmax, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { entmax_weights(1.0); }),
            "[entmax_weights] alpha is 1: it must be above 1, which is softmax_weights, and at "
            "most 2");
  EXPECT_NE(error_message([] { entmax_weights(std::nan("")); }), "");
  const Tensor x = ones({1, 1, 2, 2});
  EXPECT_EQ(error_message(
                [&] { attention_with_log_sum_exp(x, x, x, {.normaliser = sparsemax_weights()}); }),
            "[attention] the log-sum-exp of sparsemax_weights: only softmax has one");
}

}  // namespace
}  // namespace heed::entmax_test
