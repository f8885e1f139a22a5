#include "heed/kernels/attention/forward.h"

#include <fmt/format.h>

#include <limits>

#include "heed/base/threads.h"
#include "tests/kernels/attention/attention_problem.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels::test {
namespace {

using heed::test::for_each_isa;
using Answers = TestMask::Answers;

constexpr double kForward = 2e-6, kBackward = 2e-5, kDouble = 1e-13;

void expect_equal(AttentionProblem& problem, const std::string& what, double factor = 1.0) {
  problem.run_plain();
  for_each_isa([&](Isa isa) {
    problem.run_fast();
    const std::string where = what + " on " + std::string(name_of(isa));
    problem.expect_forward_equal(kForward * factor, where);
    problem.expect_backward_equal(kBackward * factor, where);
    problem.run_tiled();
    problem.expect_tiled_equal(kDouble * factor, where + " in f64");
  });
}

TEST(AttentionForward, EqualsThePlainOneForAnySizes) {
  const AttentionShape shapes[] = {
      {1, 1, 1, 1, 1, 1, 1},      {1, 1, 1, 48, 8, 8, 8},     {2, 2, 2, 7, 17, 3, 5},
      {1, 2, 1, 63, 65, 16, 16},  {2, 4, 2, 50, 129, 64, 64}, {1, 1, 1, 97, 300, 65, 33},
      {1, 1, 1, 5, 1030, 128, 7}, {1, 6, 2, 33, 31, 40, 128}, {1, 1, 1, 3, 70, 300, 512},
      {3, 1, 1, 100, 1, 32, 32},
  };
  for (const AttentionShape& shape : shapes) {
    AttentionProblem problem(shape);
    expect_equal(problem,
                 fmt::format("Tq {} Tk {} D {} Dv {}", shape.Tq, shape.Tk, shape.D, shape.Dv));
  }
}

TEST(AttentionForward, EmptySizesAreLegal) {
  for (const AttentionShape& shape :
       {AttentionShape{0, 2, 1, 5, 5, 8, 8}, AttentionShape{1, 2, 1, 0, 5, 8, 8},
        AttentionShape{1, 2, 1, 5, 0, 8, 8}}) {
    AttentionProblem problem(shape);
    problem.run_fast();
    for (const float x : problem.fast.output) EXPECT_EQ(x, 0.0f);
    for (const float x : problem.fast.log_sum_exp)
      EXPECT_EQ(x, -std::numeric_limits<float>::infinity());
    for (const auto* d : {&problem.fast.dq, &problem.fast.dk, &problem.fast.dv}) {
      for (const float x : *d) EXPECT_EQ(x, 0.0f);
    }
  }
}

TEST(AttentionForward, MasksByIntervalByHullAndByNothing) {
  const std::pair<const char*, TestMask::Sees> masks[] = {
      {"causal", [](auto, auto, auto i, auto j) { return j <= i; }},
      {"window", [](auto, auto, auto i, auto j) { return j <= i + 3 && j > i - 20; }},
      {"lengths", [](auto b, auto, auto, auto j) { return j < 37 + 50 * b; }},
      {"late", [](auto, auto, auto i, auto j) { return j >= 90 + i % 7; }},
      {"few rows see nothing", [](auto, auto, auto i, auto j) { return i % 5 != 0 && j < 3 * i; }},
  };
  for (const auto& [name, sees] : masks) {
    for (const Answers answers : {Answers::exact, Answers::hull, Answers::nothing}) {
      const TestMask mask(sees, answers);
      AttentionProblem problem({2, 2, 1, 101, 133, 24, 24});
      problem.f.mask = problem.d.mask = &mask;
      expect_equal(problem, fmt::format("{} {}", name, static_cast<int>(answers)));
    }
  }
  const TestMask holes([](auto, auto h, auto i, auto j) { return (i * 7 + j * 3 + h) % 5 < 2; },
                       Answers::hull);
  AttentionProblem problem({1, 2, 2, 60, 150, 16, 16});
  problem.f.mask = problem.d.mask = &holes;
  expect_equal(problem, "holes");
}

TEST(AttentionForward, LargeScoresNeedNoSmallOnes) {
  for (const float scale : {10.0f, 100.0f, 1000.0f}) {
    AttentionProblem problem({1, 2, 2, 100, 700, 64, 64}, scale);
    problem.run_plain();
    for_each_isa([&](Isa) {
      problem.run_fast();
      problem.expect_forward_equal(3e-6 * scale, fmt::format("scale {}", scale));
    });
  }
}

// For scores beyond the range of the exponential's constants, a row still returns the value of its
// best key.
TEST(AttentionForward, HugeScores) {
  constexpr std::size_t kKeys = 700, kWidth = 8;
  AttentionProblem problem({1, 1, 1, 60, kKeys, kWidth, kWidth}, 1e8f);
  for_each_isa([&](Isa isa) {
    problem.run_fast();
    for (std::size_t i = 0; i < 60; ++i) {
      std::size_t best = 0;
      double top = -1e300;
      for (std::size_t j = 0; j < kKeys; ++j) {
        double s = 0.0;
        for (std::size_t e = 0; e < kWidth; ++e) {
          s += problem.plain.q[i * kWidth + e] * problem.plain.k[j * kWidth + e];
        }
        if (s > top) top = s, best = j;
      }
      for (std::size_t e = 0; e < kWidth; ++e) {
        EXPECT_EQ(problem.fast.output[i * kWidth + e], problem.fast.v[best * kWidth + e])
            << "row " << i << " on " << name_of(isa);
      }
    }
    for (const float x : problem.fast.dv) EXPECT_TRUE(std::isfinite(x));
  });
}

// Scores that increase along the keys overflow every earlier reference.
TEST(AttentionForward, RisingScores) {
  AttentionProblem problem({1, 1, 1, 70, 900, 8, 8});
  for (std::size_t j = 0; j < 900; ++j) {
    for (std::size_t e = 0; e < 8; ++e) {
      problem.fast.k[j * 8 + e] = static_cast<float>(j) * 0.5f;
      problem.plain.k[j * 8 + e] = problem.fast.k[j * 8 + e];
    }
  }
  for (std::size_t i = 0; i < problem.fast.q.size(); ++i) {
    problem.fast.q[i] = std::abs(problem.fast.q[i]);
    problem.plain.q[i] = problem.fast.q[i];
  }
  problem.run_plain();
  problem.run_fast();
  problem.expect_forward_equal(1e-4, "rising");
}

TEST(AttentionForward, PackedSequences) {
  const std::int64_t q_starts[] = {0, 5, 5, 70, 71}, k_starts[] = {0, 9, 12, 60, 100};
  AttentionShape shape{4, 2, 1, 65, 48, 20, 12, q_starts, k_starts};
  const TestMask mask([](auto, auto, auto i, auto j) { return j <= i + 30; });
  AttentionProblem problem(shape);
  problem.f.mask = problem.d.mask = &mask;
  expect_equal(problem, "packed");
}

TEST(AttentionForward, TopKSinksSigmoidNone) {
  const float sinks[] = {0.5f, -3.0f};
  const double sinks_d[] = {0.5, -3.0};
  const TestMask causal([](auto, auto, auto i, auto j) { return j <= i; });
  for (const int variant : {0, 1, 2, 3, 4}) {
    AttentionProblem problem({2, 2, 2, 60, 90, 16, 16});
    float ds[2] = {};
    double dd[2] = {};
    if (variant == 0) problem.f.top_k = problem.d.top_k = 5;
    if (variant == 1) {
      problem.f.sinks = sinks, problem.d.sinks = sinks_d;
      problem.d_sinks_fast = ds, problem.d_sinks_plain = dd;
    }
    if (variant == 2) problem.f.normaliser = problem.d.normaliser = Normalise::sigmoid;
    if (variant == 3) {
      problem.f.normaliser = problem.d.normaliser = Normalise::none;
      std::fill_n(problem.fast.q.begin(), 16, 0.0f);  // a score of 0 is not a hidden one
      std::fill_n(problem.plain.q.begin(), 16, 0.0);
    }
    if (variant == 4) {
      problem.f.top_k = problem.d.top_k = 3;
      problem.f.mask = problem.d.mask = &causal;
    }
    problem.run_plain();
    for_each_isa([&](Isa) {
      ds[0] = ds[1] = 0.0f;
      problem.run_fast();
      problem.expect_forward_equal(variant >= 2 ? 1e-5 : kForward,
                                   fmt::format("variant {}", variant));
      problem.expect_backward_equal(variant == 3 ? 1e-4 : kBackward,
                                    fmt::format("variant {}", variant));
      for (int h : {0, 1}) EXPECT_NEAR(ds[h], dd[h], 1e-4);
      double d64[2] = {};
      problem.d_sinks_plain = variant == 1 ? d64 : nullptr;
      problem.run_tiled();
      problem.expect_tiled_equal(variant == 3 ? 1e-11 : kDouble,
                                 fmt::format("variant {} in f64", variant));
      for (int h : {0, 1}) EXPECT_NEAR(d64[h], dd[h], 1e-12);
    });
  }
}

TEST(AttentionForward, TopKTakesTheEarlierOfEqualKeys) {
  AttentionProblem problem({1, 1, 1, 3, 40, 4, 4});
  std::fill(problem.fast.k.begin(), problem.fast.k.end(), 1.0f);
  problem.f.top_k = 7;
  problem.run_fast();
  for (std::size_t e = 0; e < 4; ++e) {
    double mean = 0.0;
    for (std::size_t j = 0; j < 7; ++j) mean += problem.fast.v[j * 4 + e] / 7.0;
    EXPECT_NEAR(problem.fast.output[e], mean, 1e-6);
  }
}

void check_additive_scores(std::int64_t queries) {
  const std::vector<float> w = heed::test::random_floats(2 * 20, 9);
  const std::vector<double> wd = heed::test::as_doubles(w);
  AttentionProblem problem({2, 2, 1, queries, 37, 20, 8});
  const TestMask mask([](auto, auto, auto i, auto j) { return j <= i + 9; });
  problem.f.mask = problem.d.mask = &mask;
  problem.f.additive = w.data(), problem.d.additive = wd.data();
  problem.f.additive_head = problem.d.additive_head = 20;
  problem.f.scale = 0.5f, problem.d.scale = 0.5;
  std::vector<float> dw(40);
  std::vector<double> dwd(40);
  problem.d_additive_fast = dw.data(), problem.d_additive_plain = dwd.data();
  problem.run_plain();
  for_each_isa([&](Isa) {
    std::fill(dw.begin(), dw.end(), 0.0f);
    problem.run_fast();
    problem.expect_forward_equal(5e-6, "additive");
    problem.expect_backward_equal(5e-5, "additive");
    for (std::size_t i = 0; i < dw.size(); ++i) EXPECT_NEAR(dw[i], dwd[i], 2e-4);
    std::vector<double> tiled(40);
    problem.d_additive_plain = tiled.data();
    problem.run_tiled();
    problem.expect_tiled_equal(kDouble, "additive in f64");
    for (std::size_t i = 0; i < tiled.size(); ++i) EXPECT_NEAR(tiled[i], dwd[i], 1e-12);
  });
}

// Few queries have features in their lanes.
TEST(AttentionForward, AdditiveScores) {
  for (const std::int64_t queries : {53, 9, 4, 2, 1}) {
    SCOPED_TRACE(queries);
    check_additive_scores(queries);
  }
}

// Hidden keys and values may be anything: forward and backward give the same bits as without them.
TEST(AttentionForward, NothingHiddenLeaks) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const Answers answers : {Answers::exact, Answers::nothing}) {
    // Key j is hidden from queries below it; keys from 70 on are hidden from all.
    const TestMask mask([](auto, auto, auto i, auto j) { return j <= i && j < 70; }, answers);
    AttentionProblem clean({1, 2, 1, 90, 80, 16, 16});
    clean.f.mask = &mask;
    AttentionProblem poisoned = clean;
    clean.run_fast();
    for (const std::size_t j : {std::size_t{60}, std::size_t{71}, std::size_t{79}}) {
      for (std::size_t e = 0; e < 16; ++e) {
        poisoned.fast.k[j * 16 + e] = e % 2 ? kNaN : kInf;
        poisoned.fast.v[j * 16 + e] = e % 3 ? kNaN : -kInf;
      }
    }
    poisoned.run_fast();
    for (std::size_t i = 0; i < 60; ++i) {  // queries from which key 60 is hidden
      for (std::size_t e = 0; e < 32; ++e) {
        EXPECT_FLOAT_EQ(poisoned.fast.output[i * 32 + e], clean.fast.output[i * 32 + e]) << i;
        EXPECT_FLOAT_EQ(poisoned.fast.dq[i * 32 + e], clean.fast.dq[i * 32 + e]) << i;
      }
    }
    for (std::size_t e = 0; e < 16; ++e) {  // key 75 is hidden from all
      EXPECT_EQ(poisoned.fast.dk[75 * 16 + e], 0.0f);
      EXPECT_EQ(poisoned.fast.dv[75 * 16 + e], 0.0f);
    }
  }
}

TEST(AttentionForward, SameBitsInF64ForAnyThreads) {
  AttentionProblem one({2, 4, 2, 100, 2100, 16, 16});
  set_num_threads(1);
  one.run_tiled();
  for (const int threads : {2, 3}) {
    AttentionProblem other({2, 4, 2, 100, 2100, 16, 16});
    set_num_threads(threads);
    other.run_tiled();
    EXPECT_EQ(one.tiled.output, other.tiled.output);
    EXPECT_EQ(one.tiled.dq, other.tiled.dq);
    EXPECT_EQ(one.tiled.dk, other.tiled.dk);
    EXPECT_EQ(one.tiled.dv, other.tiled.dv);
  }
  set_num_threads(1);
}

TEST(AttentionForward, SameBitsForAnyThreadsAndWhateverElseIsInTheBatch) {
  AttentionProblem one({3, 4, 2, 130, 2100, 16, 16});
  set_num_threads(1);
  one.run_fast();
  for (const int threads : {2, 3}) {
    AttentionProblem other({3, 4, 2, 130, 2100, 16, 16});
    set_num_threads(threads);
    other.run_fast();
    EXPECT_EQ(one.fast.output, other.fast.output);
    EXPECT_EQ(one.fast.dq, other.fast.dq);
    EXPECT_EQ(one.fast.dk, other.fast.dk);
    EXPECT_EQ(one.fast.dv, other.fast.dv);
  }
  set_num_threads(1);
  AttentionProblem first({1, 4, 2, 130, 2100, 16, 16});  // the first of the three
  first.run_fast();
  EXPECT_TRUE(
      std::equal(first.fast.output.begin(), first.fast.output.end(), one.fast.output.begin()));
}

}  // namespace
}  // namespace heed::kernels::test
