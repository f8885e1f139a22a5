#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::scores_test {
namespace {

using test::Op;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const Shape kQ{2, 2, 5, 4}, kK{2, 2, 6, 4}, kV{2, 2, 6, 3};

// A score against its formula: q, k, v, then its parameters.
void check(const std::vector<Shape>& shapes, const Op& fused, const Op& scores) {
  test::check_op({.name = "score",
                  .shapes = shapes,
                  .op = fused,
                  .tolerance = 4e-6,
                  .gradient_tolerance = 4e-5});
  Generator generator(6);
  std::vector<Tensor> in;
  for (const Shape& shape : shapes) in.push_back(normal(shape, 0.0, 1.0, generator, DType::f64));
  EXPECT_LE(test::max_relative_error(fused(in), matmul(softmax(scores(in)), in[2])), 1e-12);
}

Tensor with(const Score& score, std::span<const Tensor> in) {
  return attention(in[0], in[1], in[2], {.score = score});
}

TEST(Scores, Dot) {
  check(
      {kQ, kK, kV}, [](auto in) { return with(dot_score(), in); },
      [](auto in) { return matmul(in[0], transpose(in[1])); });
}

TEST(Scores, ScaledDot) {
  check(
      {kQ, kK, kV}, [](auto in) { return with(scaled_dot_score(), in); },
      [](auto in) { return matmul(in[0], transpose(in[1])) * 0.5; });
  check(
      {kQ, kK, kV}, [](auto in) { return with(scaled_dot_score(-0.3), in); },
      [](auto in) { return matmul(in[0], transpose(in[1])) * -0.3; });
}

TEST(Scores, General) {
  for (const Shape& weight : {Shape{4, 7}, Shape{2, 4, 7}}) {
    check(
        {kQ, {2, 2, 6, 7}, kV, weight}, [](auto in) { return with(general_score(in[3]), in); },
        [](auto in) { return matmul(matmul(in[0], in[3]), transpose(in[1])); });
  }
}

TEST(Scores, GeneralOfPackedSequences) {
  Generator generator(6);
  const Tensor q = normal({5, 2, 4}, 0.0, 1.0, generator),
               k = normal({6, 2, 7}, 0.0, 1.0, generator);
  const Tensor v = normal({6, 2, 3}, 0.0, 1.0, generator),
               w = normal({2, 4, 7}, 0.0, 1.0, generator);
  const auto batch = [](const Tensor& x) { return unsqueeze(transpose(x, 0, 1), 0); };
  const Tensor alone = attention(batch(q), batch(k), batch(v), {.score = general_score(w)});
  const Tensor packed = attention_packed(q, k, v, {{0, 5}, {0, 6}}, {.score = general_score(w)});
  EXPECT_LE(test::max_relative_error(batch(packed), alone), 1e-6);
}

Tensor cosines(const Tensor& q, const Tensor& k) {
  const auto direction = [](const Tensor& x) {
    return x / sqrt(sum(square(x), {-1}, {.keep_axes = true}));
  };
  return matmul(direction(q), transpose(direction(k)));
}

TEST(Scores, Cosine) {
  check(
      {kQ, kK, kV}, [](auto in) { return with(cosine_score(3.0), in); },
      [](auto in) { return cosines(in[0], in[1]) * 3.0; });
  check(
      {kQ, kK, kV, {2}}, [](auto in) { return with(cosine_score(in[3]), in); },
      [](auto in) {
        return cosines(in[0], in[1]) * reshape(in[3], {2, 1, 1});
      });
  check(
      {kQ, kK, kV, {}}, [](auto in) { return with(cosine_score(in[3]), in); },
      [](auto in) { return cosines(in[0], in[1]) * in[3]; });
}

Tensor additive_scores(std::span<const Tensor> in) {
  const Tensor hidden = tanh(unsqueeze(in[0], 3) + unsqueeze(in[1], 2));  // [B, H, Tq, Tk, D]
  const Tensor& w = in[3];
  return sum(hidden * (w.rank() == 1 ? w : reshape(w, {w.size(0), 1, 1, w.size(1)})), {-1});
}

TEST(Scores, Additive) {
  for (const Shape& weights : {Shape{4}, Shape{2, 4}}) {
    check(
        {kQ, kK, kV, weights}, [](auto in) { return with(additive_score(in[3]), in); },
        additive_scores);
  }
  check(  // beyond one tile, few queries and many
      {{1, 2, 9, 5}, {1, 2, 150, 5}, {1, 2, 150, 3}, {2, 5}},
      [](auto in) { return with(additive_score(in[3]), in); }, additive_scores);
}

TEST(Scores, AdditiveWithModifiersAndMasks) {
  Generator generator(6);
  const auto draw = [&](const Shape& shape) {
    return normal(shape, 0.0, 1.0, generator, DType::f64);
  };
  const std::vector<Tensor> in{draw(kQ), draw(kK), draw(kV), draw({2, 4})};
  const Tensor bias = draw({5, 6});
  Tensor seen = zeros({5, 6}, DType::boolean);
  for (int n = 0; n < 30; ++n) seen.mutable_data<bool>()[n] = n % 6 <= n / 6;
  const Tensor scores = tanh((additive_scores(in) + bias) / 2.0) * 2.0;
  const Tensor expected = matmul(softmax(where(seen, scores, -kInfinity)), in[2]);
  EXPECT_LE(test::max_relative_error(attention(in[0], in[1], in[2],
                                               {.score = additive_score(in[3]),
                                                .modifiers = {dense_bias(bias), soft_cap(2.0)},
                                                .mask = causal()}),
                                     expected),
            1e-12);
}

TEST(Scores, TheCosineOfNothingIsZero) {
  const Tensor zero = zeros({1, 1, 2, 4}), v = from_values<float>({1, 3}, {1, 1, 2, 1});
  EXPECT_EQ(attention(zero, zero, v, {.score = cosine_score()}).to_vector<float>(),
            (std::vector<float>{2, 2}));
}

TEST(Scores, WrongUseSaysWhatIsWrong) {
  const Tensor q = ones(kQ), k = ones(kK), v = ones(kV);
  const auto message = [&](const Score& score) {
    return error_message([&] { attention(q, k, v, {.score = score}); });
  };
  EXPECT_EQ(message(general_score(ones({4, 5}))),
            "[attention] weight of general_score [4, 5]: for q [2, 2, 5, 4] and k [2, 2, 6, 4] it "
            "must be [4, 4] or [2, 4, 4]");
  EXPECT_EQ(message(general_score(ones({4, 4}, DType::f64))),
            "[attention] weight of general_score is f64, this call computes in f32: use cast(x, "
            "DType::f32)");
  EXPECT_EQ(message(cosine_score(ones({3}))),
            "[attention] scale of cosine_score [3]: it must be one number or [2], one for each "
            "head");
  EXPECT_EQ(message(additive_score(ones({3}))),
            "[attention] weights of additive_score [3]: for q [2, 2, 5, 4] they must be [4] or "
            "[2, 4]");
  EXPECT_EQ(error_message([&] {
              attention(q, ones({2, 2, 6, 3}), v, {.score = additive_score(ones({4}))});
            }),
            "[attention] q [2, 2, 5, 4] has D = 4, k [2, 2, 6, 3] has 3: additive_score needs both "
            "projected to one size");
  EXPECT_EQ(dot_score().name(), "dot_score");
  EXPECT_EQ(general_score(ones({4, 4})).name(), "general_score");
}

}  // namespace
}  // namespace heed::scores_test
