// What observers copy in the tiled pass, the plain pass and decoding, against the weights of the
// plain pass.
#include "heed/kernels/attention/stages/observe.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "heed/kernels/attention/decode.h"
#include "heed/kernels/reference/attention.h"
#include "tests/kernels/attention/attention_problem.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels::test {
namespace {

using heed::test::for_each_isa;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An observer of some heads and rows of a problem, with the memory it fills.
template <typename T>
struct Kept {
  std::vector<std::int32_t> heads, rows;
  std::vector<T> data;
  ObserverTable<T> table;

  // Every so many heads and rows.
  Kept(const AttentionShape& s, std::int64_t every_head, std::int64_t every_row) {
    const auto slots = [](std::int64_t n, std::int64_t every, std::int64_t& count) {
      std::vector<std::int32_t> result(static_cast<std::size_t>(n), -1);
      for (std::int64_t i = every - 1; i < n; i += every) {
        result[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(count++);
      }
      return result;
    };
    heads = slots(s.H, every_head, table.heads);
    rows = slots(s.Tq, every_row, table.rows);
    table.keys = s.Tk;
    data.assign(static_cast<std::size_t>(s.B * table.heads * table.rows * s.Tk), T(0));
    table.data = data.data();
    table.head_slots = heads.data();
    table.row_slots = rows.data();
  }
};

// The plain weights of every head, [key][query], after all stages.
std::vector<double> plain_weights(AttentionProblem& problem, std::int64_t b, std::int64_t h) {
  const AttentionShape& s = problem.shape;
  AttentionForward<double> call;
  call.q = {problem.plain.q.data(), s.Tq * s.H * s.D, s.D, s.H * s.D};
  call.k = {problem.plain.k.data(), s.Tk * s.G * s.D, s.D, s.G * s.D};
  call.v = {problem.plain.v.data(), s.Tk * s.G * s.Dv, s.Dv, s.G * s.Dv};
  std::vector<double> weights(static_cast<std::size_t>(s.Tk * s.Tq));
  reference::attention_weights(problem.d, call, b, h, weights.data());
  return weights;
}

template <typename T>
void expect_weights(AttentionProblem& problem, const Kept<T>& kept, double tolerance,
                    const std::string& what) {
  const AttentionShape& s = problem.shape;
  std::size_t seen = 0;
  for (std::int64_t b = 0; b < s.B; ++b) {
    for (std::int64_t h = 0; h < s.H; ++h) {
      T* const head = kept.table.head(b, h);
      if (head == nullptr) continue;
      const std::vector<double> weights = plain_weights(problem, b, h);
      for (std::int64_t i = 0; i < s.Tq; ++i) {
        const T* const row = kept.table.row(head, i);
        if (row == nullptr) continue;
        for (std::int64_t j = 0; j < s.Tk; ++j, ++seen) {
          const double expected = weights[static_cast<std::size_t>(j * s.Tq + i)];
          ASSERT_NEAR(row[j], expected, tolerance) << what << ": " << b << h << i << " " << j;
        }
      }
    }
  }
  EXPECT_EQ(seen, kept.data.size());
}

void check_weights(AttentionProblem& problem, std::int64_t every_head, std::int64_t every_row,
                   const std::string& what, double tolerance = 2e-6) {
  Kept<double> plain(problem.shape, every_head, every_row);
  WeightObserver<double> observer(plain.table);
  TileStage<double>* stages[] = {&observer};
  problem.run_plain();
  problem.d.reweights = stages;
  problem.run_plain();
  problem.d.reweights = {};
  expect_weights(problem, plain, 1e-14, what + " in double");
  for_each_isa([&](Isa isa) {
    problem.f.reweights = {};
    problem.run_fast();
    const std::vector<float> output = problem.fast.output;
    Kept<float> fast(problem.shape, every_head, every_row);
    WeightObserver<float> observer_f(fast.table);
    TileStage<float>* stages_f[] = {&observer_f};
    problem.f.reweights = stages_f;
    problem.run_fast();
    expect_weights(problem, fast, tolerance, what + " on " + std::string(name_of(isa)));
    EXPECT_EQ(problem.fast.output, output) << what;
  });
  problem.f.reweights = {};
}

TEST(WeightObserver, KeepsThePlainWeights) {
  const TestMask causal([](auto, auto, auto i, auto j) { return j <= i + 20; });
  const TestMask holes([](auto, auto h, auto i, auto j) { return (i * 7 + j * 3 + h) % 5 < 2; },
                       TestMask::Answers::hull);
  for (const Visibility* visibility :
       {static_cast<const Visibility*>(nullptr), static_cast<const Visibility*>(&causal),
        static_cast<const Visibility*>(&holes)}) {
    for (const auto& [every_head, every_row] : {std::pair{1, 1}, {3, 1}, {2, 5}}) {
      AttentionProblem problem({2, 4, 2, 103, 260, 12, 8});
      problem.f.mask = problem.d.mask = visibility;
      check_weights(problem, every_head, every_row,
                    fmt::format("every {} head, {} row", every_head, every_row));
    }
  }
}

// References that are raised after weights were copied.
TEST(WeightObserver, FollowsTheRescaling) {
  AttentionProblem problem({1, 2, 2, 50, 900, 8, 8});
  for (std::size_t i = 0; i < problem.fast.k.size(); ++i) {
    problem.fast.k[i] = static_cast<float>(i / 16) * 0.02f;
    problem.plain.k[i] = problem.fast.k[i];
  }
  check_weights(problem, 1, 1, "rising", 2e-5);
}

TEST(WeightObserver, OtherNormalisers) {
  const float sinks[] = {0.5f, -3.0f};
  const double sinks_d[] = {0.5, -3.0};
  for (const int variant : {0, 1, 2, 3}) {
    AttentionProblem problem({2, 2, 1, 41, 90, 16, 16});
    float ds[2];
    double dd[2];
    if (variant == 0) problem.f.top_k = problem.d.top_k = 5;
    if (variant == 1) {
      problem.f.sinks = sinks, problem.d.sinks = sinks_d;
      problem.d_sinks_fast = ds, problem.d_sinks_plain = dd;
    }
    if (variant == 2) problem.f.normaliser = problem.d.normaliser = Normalise::sigmoid;
    if (variant == 3) problem.f.normaliser = problem.d.normaliser = Normalise::none;
    check_weights(problem, 1, 2, fmt::format("variant {}", variant), 1e-5);
  }
}

// Several parts of keys, of which the later ones have the larger weights.
TEST(WeightObserver, InDecoding) {
  for_each_isa([&](Isa isa) {
    AttentionProblem problem({2, 4, 2, 3, 2500, 8, 8});
    for (std::size_t i = 0; i < problem.fast.k.size(); ++i) {
      problem.fast.k[i] += static_cast<float>(i / 16 % 2500) * 0.002f;
      problem.plain.k[i] = problem.fast.k[i];
    }
    Kept<float> kept(problem.shape, 1, 2);
    WeightObserver<float> observer(kept.table);
    TileStage<float>* stages[] = {&observer};
    const AttentionShape& s = problem.shape;
    std::vector<float> output(static_cast<std::size_t>(s.B * s.Tq * s.H * s.Dv)), before = output;
    DecodeCall<float> call;
    call.q = {problem.fast.q.data(), s.Tq * s.H * s.D, s.D, s.H * s.D};
    call.k = {problem.fast.k.data(), s.Tk * s.G * s.D, s.D, s.G * s.D};
    call.v = {problem.fast.v.data(), s.Tk * s.G * s.Dv, s.Dv, s.G * s.Dv};
    call.output = {before.data(), s.Tq * s.H * s.Dv, s.Dv, s.H * s.Dv};
    attention_decode(problem.f, call);
    problem.f.reweights = stages;
    call.output.data = output.data();
    attention_decode(problem.f, call);
    expect_weights(problem, kept, 5e-6, std::string(name_of(isa)));
    EXPECT_EQ(output, before);
  });
}

TEST(ScoreObserver, KeepsScoresInTheirUnitAndHidesWhatIsHidden) {
  const TestMask causal([](auto, auto, auto i, auto j) { return j <= i; });
  AttentionProblem problem({1, 2, 1, 70, 90, 12, 8});
  problem.f.mask = problem.d.mask = &causal;
  for_each_isa([&](Isa isa) {
    problem.f.modifiers = {};
    problem.f.only_observers = false;
    problem.run_fast();
    const std::vector<float> alone = problem.fast.output;
    Kept<float> kept(problem.shape, 2, 1);
    std::fill(kept.data.begin(), kept.data.end(), -std::numeric_limits<float>::infinity());
    ScoreObserver<float> observer(kept.table, &causal);
    TileStage<float>* stages[] = {&observer};
    problem.f.modifiers = stages;
    problem.f.only_observers = true;
    problem.run_fast();
    EXPECT_EQ(problem.fast.output, alone) << name_of(isa);
    for (std::int64_t i = 0; i < 70; ++i) {
      for (std::int64_t j = 0; j < 90; ++j) {
        double expected = 0.0;
        for (std::int64_t d = 0; d < 12; ++d) {
          expected += problem.plain.q[static_cast<std::size_t>((i * 2 + 1) * 12 + d)] *
                      problem.plain.k[static_cast<std::size_t>(j * 12 + d)] * problem.d.scale;
        }
        const double actual = kept.table.row(kept.table.head(0, 1), i)[j];
        if (j > i) {
          ASSERT_EQ(actual, -kInfinity) << name_of(isa);
        } else {
          ASSERT_NEAR(actual, expected, 2e-6) << name_of(isa);
        }
      }
    }
  });
}

}  // namespace
}  // namespace heed::kernels::test
