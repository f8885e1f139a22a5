// Entmax in the tiled kernels against the plain twin, which finds thresholds by bisection.
#include <fmt/format.h>

#include <vector>

#include "heed/base/threads.h"
#include "heed/kernels/attention/stages/dropout.h"
#include "tests/kernels/attention/attention_problem.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels::entmax_test {
namespace {

using heed::test::for_each_isa;
using test::AttentionArrays;
using test::AttentionProblem;
using test::TestMask;

void set_alpha(AttentionProblem& problem, double alpha) {
  problem.f.normaliser = problem.d.normaliser = Normalise::entmax;
  problem.f.alpha = static_cast<float>(alpha);
  problem.d.alpha = static_cast<double>(problem.f.alpha);
}

void expect_equal(AttentionProblem& problem, const std::string& what) {
  problem.run_plain();
  for_each_isa([&](Isa isa) {
    const std::string where = what + " on " + std::string(name_of(isa));
    problem.run_fast();
    problem.expect_forward_equal(2e-5, where);
    problem.expect_backward_equal(1e-4, where);
    problem.run_tiled();
    problem.expect_tiled_equal(1e-11, where + " in f64");
  });
}

TEST(AttentionEntmax, EqualsThePlainOneForAnySizes) {
  const AttentionShape shapes[] = {
      {1, 1, 1, 1, 1, 1, 1},      {2, 2, 2, 7, 17, 3, 5},    {1, 2, 1, 63, 65, 16, 16},
      {1, 1, 1, 97, 300, 65, 33}, {1, 1, 1, 5, 1030, 32, 7},
  };
  for (const double alpha : {1.25, 1.5, 1.75, 2.0}) {
    for (const AttentionShape& shape : shapes) {
      AttentionProblem problem(shape, 3.0f);
      set_alpha(problem, alpha);
      expect_equal(problem, fmt::format("alpha {} Tq {} Tk {}", alpha, shape.Tq, shape.Tk));
      problem.with_scales = false;
      problem.run_fast();
      problem.expect_backward_equal(1e-4, "without scales");
    }
  }
}

TEST(AttentionEntmax, WithMasksAndPackedSequences) {
  const TestMask holes(
      [](auto, auto h, auto i, auto j) { return i % 9 != 4 && (i * 7 + j * 3 + h) % 5 < 2; },
      TestMask::Answers::hull);
  const TestMask causal([](auto, auto, auto i, auto j) { return j <= i; });
  for (const TestMask* const mask : {&holes, &causal}) {
    AttentionProblem problem({1, 2, 2, 101, 150, 16, 16}, 3.0f);
    problem.f.mask = problem.d.mask = mask;
    set_alpha(problem, 1.5);
    expect_equal(problem, "masked");
  }
  const std::int64_t q_starts[] = {0, 5, 5, 70, 71}, k_starts[] = {0, 9, 12, 60, 100};
  AttentionProblem problem({4, 2, 1, 65, 48, 20, 12, q_starts, k_starts}, 3.0f);
  set_alpha(problem, 2.0);
  expect_equal(problem, "packed");
}

// Heads so long that the backward pass takes their keys in parts.
TEST(AttentionEntmax, LongHeadsInParts) {
  AttentionProblem problem({1, 1, 1, 70, 4500, 16, 8}, 4.0f);
  set_alpha(problem, 1.5);
  problem.run_plain();
  problem.run_fast();
  problem.expect_forward_equal(1e-5, "long");
  problem.expect_backward_equal(2e-4, "long");
}

TEST(AttentionEntmax, WithDropout) {
  AttentionProblem problem({2, 2, 1, 40, 90, 16, 16}, 3.0f);
  set_alpha(problem, 1.5);
  WeightDropout<float> drop_f(WeightMask({3, 4}, 0.3));
  WeightDropout<double> drop_d(WeightMask({3, 4}, 0.3));
  TileStage<float>* const stages_f[] = {&drop_f};
  TileStage<double>* const stages_d[] = {&drop_d};
  problem.f.reweights = stages_f;
  problem.d.reweights = stages_d;
  expect_equal(problem, "dropout");
}

TEST(AttentionEntmax, SameBitsForAnyNumberOfThreads) {
  AttentionProblem problem({2, 3, 1, 130, 200, 16, 16}, 3.0f);
  set_alpha(problem, 1.5);
  const int before = num_threads();
  set_num_threads(1);
  problem.run_fast();
  const AttentionArrays<float> one = problem.fast;
  set_num_threads(3);
  problem.run_fast();
  set_num_threads(before);
  EXPECT_EQ(problem.fast.output, one.output);
  EXPECT_EQ(problem.fast.dq, one.dq);
  EXPECT_EQ(problem.fast.dk, one.dk);
  EXPECT_EQ(problem.fast.dv, one.dv);
}

}  // namespace
}  // namespace heed::kernels::entmax_test
