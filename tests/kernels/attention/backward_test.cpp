#include "heed/kernels/attention/backward.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "tests/kernels/attention/attention_problem.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels::test {
namespace {

// One number per pair of query and key, shared by all heads, added to the scores: every head adds
// its gradient to the same memory.
template <typename T>
class SharedBias : public TileStage<T> {
 public:
  SharedBias(std::int64_t Tq, std::int64_t Tk)
      : keys_(Tk), gradient(static_cast<std::size_t>(Tq * Tk)) {}

  void forward(const Tile<T>& tile, StageSpace<T>) const override {
    for (std::int64_t c = 0; c < tile.cols; ++c) {
      for (std::int64_t r = 0; r < tile.rows; ++r)
        tile.at(c, r) += bias(tile.row + r, tile.col + c);
    }
  }
  void backward(const Tile<T>& g, StageSpace<T>) const override {
    for (std::int64_t c = 0; c < g.cols; ++c) {
      for (std::int64_t r = 0; r < g.rows; ++r) {
        gradient[static_cast<std::size_t>((g.row + r) * keys_ + g.col + c)] += g.at(c, r);
      }
    }
  }
  bool in_turn() const override { return true; }

 private:
  static T bias(std::int64_t i, std::int64_t j) {
    return static_cast<T>((i * 3 + j) % 7) * T(0.25);
  }
  std::int64_t keys_;

 public:
  mutable std::vector<T> gradient;
};

TEST(AttentionBackward, LongHeadsAreSplitByKeys) {
  for (const bool masked : {false, true}) {
    const TestMask causal([](auto, auto, auto i, auto j) { return j <= i + 2000; });
    AttentionProblem problem({1, 2, 1, 150, 2300, 12, 20});
    if (masked) problem.f.mask = problem.d.mask = &causal;
    problem.run_plain();
    heed::test::for_each_isa([&](Isa) {
      problem.run_fast();
      problem.expect_backward_equal(2e-5, masked ? "causal" : "open");
      problem.run_tiled();
      problem.expect_tiled_equal(1e-12, masked ? "causal in f64" : "open in f64");
    });
  }
}

// After decoding there is nothing else.
TEST(AttentionBackward, WorksFromTheLogSumExpAlone) {
  const TestMask mask([](auto, auto, auto i, auto j) { return i % 9 != 0 && j <= i; });
  AttentionProblem problem({2, 2, 1, 90, 110, 20, 12});
  problem.f.mask = problem.d.mask = &mask;
  problem.with_scales = false;
  problem.run_plain();
  heed::test::for_each_isa([&](Isa) {
    problem.run_fast();
    problem.expect_backward_equal(2e-5, "from log-sum-exp");
    problem.run_tiled();
    problem.expect_tiled_equal(1e-12, "from log-sum-exp in f64");
  });
}

// A row with one visible key has a weight of 1, whatever its score: dv is then a sum of d_output.
TEST(AttentionBackward, LargeScoresGiveForwardsWeightsAgain) {
  AttentionProblem problem({1, 1, 1, 80, 300, 16, 16}, 1e5f);
  problem.run_fast();
  double sum_of_dv = 0.0, sum_of_dy = 0.0;
  for (const float x : problem.fast.dv) sum_of_dv += x;
  for (const float x : problem.fast.d_output) sum_of_dy += x;
  EXPECT_NEAR(sum_of_dv, sum_of_dy, 1e-4);
}

TEST(AttentionBackward, StagesThatShareAGradientTakeTurns) {
  const AttentionShape shape{2, 3, 3, 70, 1100, 8, 8};
  AttentionProblem problem(shape);
  SharedBias<double> plain(shape.Tq, shape.Tk);
  TileStage<double>* plain_stages[] = {&plain};
  problem.d.modifiers = plain_stages;
  problem.run_plain();
  std::vector<float> first;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    SharedBias<float> fast(shape.Tq, shape.Tk);
    TileStage<float>* stages[] = {&fast};
    problem.f.modifiers = stages;
    problem.run_fast();
    problem.expect_backward_equal(2e-5, fmt::format("{} threads", threads));
    for (std::size_t i = 0; i < plain.gradient.size(); ++i) {
      ASSERT_NEAR(fast.gradient[i], plain.gradient[i], 1e-5);
    }
    if (first.empty()) first = fast.gradient;
    EXPECT_EQ(fast.gradient, first);
  }
  set_num_threads(1);
}

class Failing : public TileStage<float> {
 public:
  void forward(const Tile<float>& tile, StageSpace<float>) const override {
    if (armed && tile.head == 1) throw Error("a stage failed");
  }
  void backward(const Tile<float>&, StageSpace<float>) const override {}
  bool in_turn() const override { return true; }
  bool armed = false;
};

// Cells that wait for the turn of the failed cell must not wait forever.
TEST(AttentionBackward, AFailingStageEndsThePass) {
  AttentionProblem problem({1, 4, 4, 200, 200, 8, 8});
  Failing stage;
  TileStage<float>* stages[] = {&stage};
  problem.f.modifiers = stages;
  problem.run_fast();
  stage.armed = true;
  set_num_threads(2);
  EXPECT_THROW(problem.run_fast(), Error);
  set_num_threads(1);
}

}  // namespace
}  // namespace heed::kernels::test
