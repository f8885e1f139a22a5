// Pointer-generator attention: coverage by hand, the mixture, words outside the vocabulary, and the
// gradient of the coverage loss through all steps.
#include "heed/attention/variants/pointer_generator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradcheck.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/conformance/conformance.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::max_relative_error;

// One feature: scores are v tanh(h_j + s_t + w_c c_j).
PointerGenerator one_feature(double v, double coverage_weight) {
  PointerGenerator layer({.embed = 1});
  for (Tensor& parameter : layer.parameters()) copy_into(parameter, scalar(1.0));
  copy_into(layer.query_proj.bias, scalar(0.0));
  copy_into(layer.v, scalar(v));
  copy_into(layer.coverage_weight, scalar(coverage_weight));
  layer.to(DType::f64);
  return layer;
}

TEST(PointerGenerator, CoverageByHand) {
  // h = (0, 1), s = 0, v = 2, w_c = -1. First step: scores (0, 2 tanh 1 = 1.523188), so that
  // a = (0.178992, 0.821008). Second: h - a = (-0.178992, 0.178992), scores 2 tanh of these,
  // (-0.354210, 0.354210), so that a_2 = 1 / (1 + e^0.708421) = 0.329948 and 0.670052: what was
  // seen less gains. Coverage loss: 0, then min(0.329948, 0.178992) + min(0.670052, 0.821008).
  const PointerGenerator layer = one_feature(2.0, -1.0);
  const Attended seen = layer.attend(
      {.x = zeros({1, 2, 1}, DType::f64), .memory = from_values({0.0, 1.0}, {1, 2, 1})});
  const double expected[] = {0.178992, 0.821008, 0.329948, 0.670052};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(seen.weights.to_vector<double>()[i], expected[i], 1e-6) << i;
    EXPECT_NEAR(seen.coverage.to_vector<double>()[i], i < 2 ? 0.0 : expected[i - 2], 1e-6) << i;
  }
  EXPECT_NEAR(seen.context.to_vector<double>()[0], 0.821008, 1e-6);  // h_2 is 1
  EXPECT_NEAR(coverage_loss(seen).to_vector<double>()[0], 0.0, 1e-15);
  EXPECT_NEAR(coverage_loss(seen).to_vector<double>()[1], 0.178992 + 0.670052, 1e-6);
}

TEST(PointerGenerator, AWeightOfZeroForCoverageIsNoCoverage) {
  Generator generator(3);
  PointerGenerator with({.embed = 6, .hidden = 5}, generator);
  PointerGenerator without({.embed = 6, .hidden = 5, .coverage = false}, generator);
  copy_into(with.coverage_weight, scalar(0.0));
  without.memory_proj = with.memory_proj;
  without.query_proj = with.query_proj;
  without.v = with.v;
  const AttentionInput in{.x = normal({2, 9, 6}, 0.0, 1.0, generator),
                          .memory = normal({2, 7, 6}, 0.0, 1.0, generator),
                          .lengths = from_values<std::int64_t>({7, 4}, {2})};
  const Attended one = with.attend(in), other = without.attend(in);
  EXPECT_LE(max_relative_error(one.context, other.context), 2e-6);
  EXPECT_LE(max_relative_error(one.weights, other.weights), 2e-6);
  EXPECT_LE(max_relative_error(one.coverage, other.coverage), 2e-6);
}

TEST(PointerGenerator, KeepsTheContractOfTheSuiteWithoutCoverageToo) {
  Mechanism mechanism = kPointerGenerator;
  mechanism.about.sample = "coverage=false";
  for (const test::Check& check : test::all_checks()) {
    for (const std::string& failure : check.run(test::subject_of(mechanism))) {
      ADD_FAILURE() << check.name << ": " << failure;
    }
  }
}

TEST(PointerGenerator, StepsHandOnTheirCoverage) {
  Generator generator(4);
  const PointerGenerator layer({.embed = 6}, generator);
  const Tensor x = normal({2, 5, 6}, 0.0, 1.0, generator);
  const Tensor memory = normal({2, 7, 6}, 0.0, 1.0, generator);
  const Attended whole = layer.attend({.x = x, .memory = memory});
  const auto state = layer.start({.batch = 2, .memory = memory});
  for (std::int64_t t = 0; t < 5; ++t) {
    const Attended now = layer.attend_step(clone_data(view::slice(x, 1, t, t + 1)), *state);
    const auto part = [&](const Tensor& all) { return clone_data(view::slice(all, 1, t, t + 1)); };
    EXPECT_LE(max_relative_error(now.weights, part(whole.weights)), 1e-6) << t;
    EXPECT_LE(max_relative_error(now.coverage, part(whole.coverage)), 1e-6) << t;
  }
}

TEST(PointerGenerator, BeamsBringTheirCoverageWithThem) {
  Generator generator(7);
  const PointerGenerator layer({.embed = 6}, generator);
  const Tensor x = normal({2, 2, 6}, 0.0, 1.0, generator);
  const Tensor memory = normal({2, 4, 6}, 0.0, 1.0, generator);
  const Tensor lengths = from_values<std::int64_t>({4, 3}, {2});
  const Attended whole = layer.attend({.x = x, .memory = memory, .lengths = lengths});
  const auto state = layer.start({.batch = 2, .memory = memory, .lengths = lengths});
  const auto part = [](const Tensor& all, std::int64_t b, std::int64_t t) {
    return clone_data(view::slice(view::slice(all, 0, b, b + 1), 1, t, t + 1));
  };
  layer.step(clone_data(view::slice(x, 1, 0, 1)), *state);
  const std::vector<std::int64_t> from = {1};
  state->reorder(from);
  const Attended now = layer.attend_step(part(x, 1, 1), *state);
  EXPECT_LE(max_relative_error(now.weights, part(whole.weights, 1, 1)), 1e-6);
  EXPECT_LE(max_relative_error(now.coverage, part(whole.coverage, 1, 1)), 1e-6);
}

TEST(PointerGenerator, TheCoverageLossHasItsGradientThroughAllSteps) {
  Generator generator(5);
  PointerGenerator layer({.embed = 3, .hidden = 4}, generator);
  layer.to(DType::f64);
  std::vector<Tensor> leaves;
  leaves.push_back(normal({2, 4, 3}, 0.0, 1.0, generator, DType::f64).requires_grad());
  leaves.push_back(normal({2, 5, 3}, 0.0, 1.0, generator, DType::f64).requires_grad());
  leaves.push_back(layer.coverage_weight);
  leaves.push_back(layer.v);
  const GradCheckResult result = gradcheck(
      [&](std::span<const Tensor> in) {
        layer.coverage_weight = in[2];
        layer.v = in[3];
        return coverage_loss(layer.attend(
            {.x = in[0], .memory = in[1], .lengths = from_values<std::int64_t>({5, 3}, {2})}));
      },
      leaves);
  EXPECT_TRUE(result.ok) << result.message;
}

// ---- the mixture --------------------------------------------------------------------------------

TEST(PointerGenerator, TheMixtureByHand) {
  // A vocabulary of 2 with P_vocab = (1/4, 3/4); source words: 1, "2" (not in the vocabulary), 1,
  // and weights 1/2, 1/4, 1/4. With p_gen = 0.6: P(0) = 0.15, P(1) = 0.45 + 0.4 * 0.75 = 0.75,
  // P(2) = 0.4 * 0.25 = 0.1.
  Attended attended;
  attended.weights = from_values({0.5f, 0.25f, 0.25f}, {1, 1, 3});
  const CopyWords words{.logits = from_values({0.0f, std::log(3.0f)}, {1, 1, 2}),
                        .source_ids = from_values<std::int64_t>({1, 2, 1}, {1, 3}),
                        .extra = 1};
  const Tensor p = copy_mixture(attended, full({1, 1, 1}, 0.6), words);
  ASSERT_EQ(p.shape(), (Shape{1, 1, 3}));
  EXPECT_NEAR(p.to_vector<float>()[0], 0.15, 1e-7);
  EXPECT_NEAR(p.to_vector<float>()[1], 0.75, 1e-7);
  EXPECT_NEAR(p.to_vector<float>()[2], 0.1, 1e-7);
}

TEST(PointerGenerator, TheMixtureSumsToOneAndHasGradients) {
  Generator generator(6);
  PointerGenerator layer({.embed = 3, .input_embed = 2}, generator);
  layer.to(DType::f64);
  const Tensor ids = from_values<std::int64_t>({0, 5, 6, 5, 1, 6, 6, 0}, {2, 4});
  std::vector<Tensor> leaves;
  leaves.push_back(normal({2, 3, 3}, 0.0, 1.0, generator, DType::f64).requires_grad());
  leaves.push_back(normal({2, 4, 3}, 0.0, 1.0, generator, DType::f64).requires_grad());
  leaves.push_back(normal({2, 3, 2}, 0.0, 1.0, generator, DType::f64).requires_grad());
  leaves.push_back(normal({2, 3, 5}, 0.0, 1.0, generator, DType::f64).requires_grad());
  const auto mixture = [&](std::span<const Tensor> in) {
    const Attended attended = layer.attend({.x = in[0], .memory = in[1]});
    const Tensor p_gen = layer.generation_probability(attended, in[0], in[2]);  // [2, 3, 1]
    return copy_mixture(attended, p_gen, {.logits = in[3], .source_ids = ids, .extra = 2});
  };
  const Tensor p = mixture(leaves);
  EXPECT_EQ(p.shape(), (Shape{2, 3, 7}));
  EXPECT_LE(max_relative_error(sum(p, {2}).detach(), ones({2, 3}, DType::f64)), 1e-15);
  EXPECT_GT(p.to_vector<double>()[6], 0.01);  // a word that the vocabulary lacks
  const GradCheckResult result = gradcheck(mixture, leaves);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(PointerGenerator, WrongUseSaysWhatIsWrong) {
  Attended attended;
  attended.weights = zeros({1, 2, 3});
  const Tensor p_gen = zeros({1, 2, 1}), logits = zeros({1, 2, 4});
  EXPECT_EQ(error_message([&] {
              copy_mixture(attended, p_gen, {logits, zeros({1, 2}, DType::i64)});
            }),
            "[copy_mixture] source_ids are [1, 2]: they must be [1, 3], a word for each position");
  EXPECT_EQ(error_message([&] {
              copy_mixture(attended, p_gen, {zeros({1, 3, 4}), zeros({1, 3}, DType::i64)});
            }),
            "[copy_mixture] logits are [1, 3, 4]: they must be [1, 2, V]");
  EXPECT_EQ(error_message([&] {
              copy_mixture(attended, p_gen, {logits, full({1, 3}, 4, DType::i64)});
            }),
            "[scatter_add] index 4 at position [0, 0, 0] is outside the axis of size 4: indices "
            "run from 0 to 3");
}

}  // namespace
}  // namespace heed
