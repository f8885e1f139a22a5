// Pointer attention: its formula, its logarithms, and positions that are pointed at only once.
#include "heed/attention/variants/pointer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/order.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::pointer_test {
namespace {

using test::max_relative_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One feature, W1 = W2 = 1 and the given v.
Pointer one_feature(double v) {
  Pointer layer({.embed = 1});
  for (Tensor& parameter : layer.parameters()) copy_into(parameter, scalar(1.0));
  copy_into(layer.v, scalar(v));
  layer.eval();
  return layer;
}

TEST(Pointer, PointsByHand) {
  // e = (0, 1), d = 0, v = 2: scores 2 tanh(0) = 0 and 2 tanh(1) = 1.523188, so that the
  // probabilities are 1 / (1 + e^1.523188) = 0.178992 and the rest.
  const Tensor p =
      one_feature(2.0)({.x = zeros({1, 1, 1}), .memory = from_values({0.0f, 1.0f}, {1, 2, 1})});
  ASSERT_EQ(p.shape(), (Shape{1, 1, 2}));
  EXPECT_NEAR(p.to_vector<float>()[0], 0.178992, 1e-6);
  EXPECT_NEAR(p.to_vector<float>()[1], 0.821008, 1e-6);
}

TEST(Pointer, EqualsThePlainFormula) {
  Generator generator(3);
  Pointer layer({.embed = 5, .memory_embed = 3, .hidden = 7}, generator);
  layer.to(DType::f64);
  const Tensor d = normal({1, 4, 5}, 0.0, 1.0, generator, DType::f64);
  const Tensor e = normal({1, 6, 3}, 0.0, 1.0, generator, DType::f64);
  const std::vector<double> p =
      layer({.x = d, .memory = e, .lengths = from_values<std::int64_t>({5}, {1})})
          .to_vector<double>();
  const double* const w1 = layer.memory_proj.weight.data.data<double>();
  const double* const w2 = layer.query_proj.weight.data.data<double>();
  for (std::int64_t i = 0; i < 4; ++i) {
    double u[6], total = 0.0;
    for (std::int64_t j = 0; j < 5; ++j) {
      u[j] = 0.0;
      for (std::int64_t a = 0; a < 7; ++a) {
        double sum = 0.0;
        for (std::int64_t c = 0; c < 3; ++c) sum += w1[a * 3 + c] * e.data<double>()[j * 3 + c];
        for (std::int64_t c = 0; c < 5; ++c) sum += w2[a * 5 + c] * d.data<double>()[i * 5 + c];
        u[j] += layer.v.data<double>()[a] * std::tanh(sum);
      }
      total += std::exp(u[j]);
    }
    for (std::int64_t j = 0; j < 6; ++j) {
      EXPECT_NEAR(p[static_cast<std::size_t>(i * 6 + j)], j < 5 ? std::exp(u[j]) / total : 0.0,
                  1e-14);
    }
  }
}

TEST(Pointer, LogProbsSurviveWhatProbabilitiesDoNot) {
  // Scores 500 tanh(+-10): a probability of e^-1000 is 0, its logarithm is -1000.
  const Pointer layer = one_feature(500.0);
  const AttentionInput in{.x = zeros({1, 1, 1}),
                          .memory = from_values({10.0f, -10.0f, 0.0f}, {1, 3, 1}),
                          .lengths = from_values<std::int64_t>({2}, {1})};
  EXPECT_EQ(layer(in).to_vector<float>()[1], 0.0f);
  const std::vector<float> logs = layer.log_probs(in).to_vector<float>();
  EXPECT_NEAR(logs[0], 0.0, 1e-6);
  EXPECT_NEAR(logs[1], -1000.0, 1e-3);
  EXPECT_EQ(logs[2], -kInfinity);
}

TEST(Pointer, TheLossHasAFiniteGradientBesideHiddenPositions) {
  Generator generator(4);
  Pointer layer({.embed = 6}, generator);
  const AttentionInput in{.x = normal({2, 3, 6}, 0.0, 1.0, generator),
                          .memory = normal({2, 4, 6}, 0.0, 1.0, generator),
                          .lengths = from_values<std::int64_t>({4, 2}, {2})};
  const Tensor targets = from_values<std::int64_t>({3, 0, 1, 1, 0, 1}, {2, 3, 1});
  const Tensor loss = -mean(gather(layer.log_probs(in), 2, targets));
  loss.backward();
  double size = 0.0;
  for (const Tensor& parameter : layer.parameters()) {
    for (const float g : parameter.grad().to_vector<float>()) size += std::abs(g);
  }
  EXPECT_TRUE(std::isfinite(loss.item()));
  EXPECT_TRUE(std::isfinite(size) && size > 1e-3) << size;
}

// ---- each position once -------------------------------------------------------------------------

TEST(Pointer, EachOnceHidesWhatWasPointedAtBefore) {
  const Pointer layer = one_feature(1.0);
  AttentionInput in{.x = zeros({1, 3, 1}), .memory = zeros({1, 3, 1})};
  in.mask = each_once(from_values<std::int64_t>({2, 0, 1}, {1, 3}), 3);
  const std::vector<float> expected = {1 / 3.0f, 1 / 3.0f, 1 / 3.0f,  // nothing taken
                                       0.5f,     0.5f,     0.0f,      // 2 is
                                       0.0f,     1.0f,     0.0f};     // 2 and 0 are
  const std::vector<float> p = layer(in).to_vector<float>();
  for (std::size_t i = 0; i < 9; ++i) EXPECT_FLOAT_EQ(p[i], expected[i]) << i;
}

TEST(Pointer, DecodingWithPositionsTakenIsTheCallWithEachOnce) {
  const NoGrad off;
  Generator generator(8);
  const Pointer layer({.embed = 6}, generator);
  const Tensor x = normal({2, 4, 6}, 0.0, 1.0, generator);
  const Tensor memory = normal({2, 4, 6}, 0.0, 1.0, generator);
  const auto state = layer.start({.batch = 2, .memory = memory});
  std::vector<Tensor> p;
  Tensor pointed = empty({2, 4}, DType::i64);
  for (std::int64_t t = 0; t < 4; ++t) {
    p.push_back(layer.step(clone_data(view::slice(x, 1, t, t + 1)), *state));
    const Tensor best = argmax(p.back(), 2);  // [B, 1]
    Tensor to = view::slice(pointed, 1, t, t + 1);
    copy_into(to, best);
    layer.take(clone_data(view::select(best, 1, 0)), *state);
  }
  const Tensor whole = layer({.x = x, .memory = memory, .mask = each_once(pointed, 4)});
  for (std::int64_t t = 0; t < 4; ++t) {
    EXPECT_LE(max_relative_error(p[static_cast<std::size_t>(t)],
                                 clone_data(view::slice(whole, 1, t, t + 1))),
              1e-6);
  }
  for (std::int64_t b = 0; b < 2; ++b) {  // a permutation
    std::vector<std::int64_t> all =
        clone_data(view::select(pointed, 0, b)).to_vector<std::int64_t>();
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, (std::vector<std::int64_t>{0, 1, 2, 3}));
  }
}

TEST(Pointer, APositionTakenStaysTakenWhileOthersCome) {
  const NoGrad off;
  const Pointer layer = one_feature(1.0);
  const auto state = layer.start({.batch = 1});
  layer.step(zeros({1, 2, 1}), *state);
  layer.take(from_values<std::int64_t>({0}, {1}), *state);
  EXPECT_EQ(layer.step(zeros({1, 1, 1}), *state).to_vector<float>(),
            (std::vector<float>{0.0f, 0.5f, 0.5f}));
}

TEST(Pointer, BeamsBringWhatIsTakenWithThem) {
  const NoGrad off;
  const Pointer layer = one_feature(1.0);
  const auto state = layer.start({.batch = 2, .memory = zeros({2, 3, 1})});
  layer.take(from_values<std::int64_t>({0, 2}, {2}), *state);
  const std::vector<std::int64_t> from = {1, 0, 1};
  state->reorder(from);
  EXPECT_EQ(layer.step(zeros({3, 1, 1}), *state).to_vector<float>(),
            (std::vector<float>{0.5f, 0.5f, 0.0f, 0.0f, 0.5f, 0.5f, 0.5f, 0.5f, 0.0f}));
}

TEST(Pointer, WrongUseSaysWhatIsWrong) {
  const Pointer layer({.embed = 4});
  EXPECT_EQ(error_message([&] {
              layer({.x = zeros({2, 3, 5})});
            }),
            "[pointer] x is [2, 3, 5]: it must be [B, T, 4]");
  EXPECT_EQ(error_message([&] {
              each_once(zeros({2, 3}), 4);
            }),
            "[each_once] pointed is f32 [2, 3]: it must be i64 [B, Tq]");
  const auto state = layer.start({.memory = zeros({1, 3, 4})});
  EXPECT_EQ(error_message([&] { layer.take(zeros({2}, DType::i64), *state); }),
            "[pointer] positions taken are i64 [2]: they must be i64 [1], one for each sequence");
  EXPECT_EQ(
      error_message([&] { layer.take(full({1}, 3, DType::i64), *state); }),
      "[pointer] index 3 at position [0] is outside the positions of size 3: indices run from "
      "0 to 2");
}

}  // namespace
}  // namespace heed::pointer_test
