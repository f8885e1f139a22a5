// Plain attention: small cases worked out by hand, the contract, and gradients by differences with
// every stage at once; and tiled attention against it with those stages.
#include "heed/kernels/reference/attention.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "heed/kernels/attention/stages/dense_bias.h"
#include "heed/kernels/attention/stages/distance_bias.h"
#include "heed/kernels/attention/stages/dropout.h"
#include "heed/kernels/attention/stages/shaw.h"
#include "heed/kernels/attention/stages/soft_cap.h"
#include "heed/kernels/attention/stages/temperature.h"
#include "tests/kernels/attention/attention_problem.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// One query of one feature, scale 1: the scores are q times the keys.
AttentionProblem one_query(std::vector<double> keys, std::vector<double> values) {
  const auto n = static_cast<std::int64_t>(keys.size());
  AttentionProblem problem({1, 1, 1, 1, n, 1, 1});
  problem.d.scale = 1.0;
  problem.plain.q = {1.0};
  problem.plain.k = std::move(keys);
  problem.plain.v = std::move(values);
  problem.plain.d_output = {1.0};
  problem.plain.d_log_sum_exp = {0.0};
  return problem;
}

TEST(PlainAttention, SoftmaxByHand) {
  // Weights 1/4 and 3/4.
  AttentionProblem problem = one_query({0.0, std::log(3.0)}, {4.0, 8.0});
  problem.run_plain();
  EXPECT_NEAR(problem.plain.output[0], 7.0, 1e-12);
  EXPECT_NEAR(problem.plain.log_sum_exp[0], std::log(4.0), 1e-12);
  EXPECT_NEAR(problem.plain.dv[1], 0.75, 1e-12);
  // dS = P (v - output) = -0.75, 0.75.
  EXPECT_NEAR(problem.plain.dk[0], -0.75, 1e-12);
  EXPECT_NEAR(problem.plain.dq[0], 0.75 * std::log(3.0), 1e-12);
}

TEST(PlainAttention, SinkSigmoidNoneAndTopKByHand) {
  AttentionProblem problem = one_query({0.0, std::log(3.0)}, {4.0, 8.0});
  const double sink = std::log(4.0);
  double d_sink = 0.0;
  problem.d.sinks = &sink;
  problem.d_sinks_plain = &d_sink;
  problem.run_plain();  // weights 1/8, 3/8, and 1/2 for the sink
  EXPECT_NEAR(problem.plain.output[0], 3.5, 1e-12);
  EXPECT_NEAR(problem.plain.log_sum_exp[0], std::log(8.0), 1e-12);
  EXPECT_NEAR(d_sink, -0.5 * 3.5, 1e-12);
  problem.d.sinks = nullptr;
  problem.d_sinks_plain = nullptr;

  problem.d.normaliser = Normalise::sigmoid;  // 1/2 and 3/4
  problem.run_plain();
  EXPECT_NEAR(problem.plain.output[0], 8.0, 1e-12);
  EXPECT_NEAR(problem.plain.dk[1], 8.0 * 0.75 * 0.25, 1e-12);

  problem.d.normaliser = Normalise::none;
  problem.run_plain();
  EXPECT_NEAR(problem.plain.output[0], 8.0 * std::log(3.0), 1e-12);
  EXPECT_NEAR(problem.plain.dk[0], 4.0, 1e-12);

  problem.d.normaliser = Normalise::softmax;
  problem.d.top_k = 1;
  problem.run_plain();
  EXPECT_EQ(problem.plain.output[0], 8.0);
  EXPECT_EQ(problem.plain.dv[0], 0.0);
}

TEST(PlainAttention, WeightsByHand) {
  AttentionProblem problem = one_query({0.0, std::log(3.0)}, {4.0, 8.0});
  AttentionForward<double> call;
  call.q.data = problem.plain.q.data();
  call.k = {problem.plain.k.data(), 0, 0, 1};
  call.v = {problem.plain.v.data(), 0, 0, 1};
  double weights[2] = {};
  reference::attention_weights(problem.d, call, 0, 0, weights);
  EXPECT_NEAR(weights[0], 0.25, 1e-12);
  EXPECT_NEAR(weights[1], 0.75, 1e-12);
}

TEST(PlainAttention, GroupsOfQueryHeadsShareKeys) {
  AttentionProblem problem({1, 4, 2, 1, 1, 1, 1});  // one key: its weight is 1
  problem.plain.v = {10.0, 20.0};
  problem.plain.d_output = {1.0, 2.0, 4.0, 8.0};
  problem.run_plain();
  EXPECT_EQ(problem.plain.output, (std::vector<double>{10.0, 10.0, 20.0, 20.0}));
  EXPECT_EQ(problem.plain.dv, (std::vector<double>{3.0, 12.0}));
}

TEST(PlainAttention, PackedSequencesDoNotMeet) {
  const std::int64_t q_starts[] = {0, 1, 3}, k_starts[] = {0, 2, 3};
  AttentionProblem problem({2, 1, 1, 2, 2, 1, 1, q_starts, k_starts});
  problem.plain.k = {0.0, 0.0, 5.0};
  problem.plain.v = {1.0, 3.0, 7.0};
  problem.run_plain();
  EXPECT_EQ(problem.plain.output, (std::vector<double>{2.0, 7.0, 7.0}));
}

TEST(PlainAttention, ARowThatSeesNothing) {
  const TestMask mask([](auto, auto, auto i, auto) { return i != 1; });
  AttentionProblem problem({1, 1, 1, 3, 4, 2, 2});
  problem.d.mask = &mask;
  problem.plain.q[2] = kNaN;
  problem.plain.d_output[2] = kNaN;
  problem.run_plain();
  for (const std::size_t e : {2, 3}) {
    EXPECT_EQ(problem.plain.output[e], 0.0);
    EXPECT_EQ(problem.plain.dq[e], 0.0);
  }
  EXPECT_EQ(problem.plain.log_sum_exp[1], -kInf);
  for (const double x : problem.plain.dk) EXPECT_TRUE(std::isfinite(x));
  for (const double x : problem.plain.dv) EXPECT_TRUE(std::isfinite(x));
}

TEST(PlainAttention, InfiniteScores) {
  AttentionProblem problem = one_query({-kInf, -kInf}, {1.0, 2.0});
  problem.run_plain();
  EXPECT_EQ(problem.plain.output[0], 0.0);
  EXPECT_EQ(problem.plain.log_sum_exp[0], -kInf);
  EXPECT_EQ(problem.plain.dv, (std::vector<double>{0.0, 0.0}));

  // The second of two rows meets +inf.
  AttentionProblem two({1, 1, 1, 2, 2, 1, 1});
  const TestMask causal([](auto, auto, auto i, auto j) { return j <= i; });
  two.d.mask = &causal;
  two.plain.q = {1.0, 1.0};
  two.plain.k = {0.0, kInf};
  two.plain.v = {5.0, 6.0};
  two.run_plain();
  EXPECT_EQ(two.plain.output[0], 5.0);
  EXPECT_TRUE(std::isnan(two.plain.output[1]));
}

// A finite score is a score, whatever its size: only differences count.
TEST(PlainAttention, HugeScoresByHand) {
  for (const double huge : {-1e308, -1e20, 1e10, 1e308}) {
    AttentionProblem equal = one_query({huge, huge, huge, huge}, {1.0, 2.0, 4.0, 5.0});
    equal.run_plain();
    EXPECT_EQ(equal.plain.output[0], 3.0) << huge;
    EXPECT_EQ(equal.plain.log_sum_exp[0], huge + std::log(4.0)) << huge;
    EXPECT_EQ(equal.plain.dv, (std::vector<double>{0.25, 0.25, 0.25, 0.25})) << huge;
    EXPECT_EQ(equal.plain.dk, (std::vector<double>{-0.5, -0.25, 0.25, 0.5})) << huge;

    // All weight is on the higher scores.
    AttentionProblem mixed = one_query({0.0, huge, 0.0, huge}, {1.0, 2.0, 4.0, 5.0});
    mixed.run_plain();
    EXPECT_EQ(mixed.plain.output[0], huge > 0.0 ? 3.5 : 2.5) << huge;
    EXPECT_EQ(mixed.plain.dv[1], huge > 0.0 ? 0.5 : 0.0) << huge;

    AttentionProblem opposite = one_query({-1e308, huge, 1e308}, {1.0, 2.0, 4.0});
    opposite.run_plain();
    EXPECT_EQ(opposite.plain.output[0], huge == 1e308 ? 3.0 : 4.0) << huge;

    // A sink as high as the scores takes its share.
    equal.d.sinks = &huge;
    double d_sink = 0.0;
    equal.d_sinks_plain = &d_sink;
    equal.run_plain();
    EXPECT_DOUBLE_EQ(equal.plain.output[0], 12.0 / 5.0) << huge;
    EXPECT_DOUBLE_EQ(d_sink, -0.2 * 12.0 / 5.0) << huge;
  }
}

TEST(PlainAttention, WhatIsHiddenMayBeAnything) {
  const TestMask mask([](auto, auto, auto i, auto j) { return j != 2 && j <= i + 1; });
  AttentionProblem clean({1, 2, 1, 4, 5, 3, 3});
  clean.d.mask = &mask;
  AttentionProblem poisoned = clean;
  for (std::size_t e = 0; e < 3; ++e) {
    poisoned.plain.k[2 * 3 + e] = kNaN;
    poisoned.plain.v[2 * 3 + e] = kInf;
  }
  clean.run_plain();
  poisoned.run_plain();
  EXPECT_EQ(poisoned.plain.output, clean.plain.output);
  EXPECT_EQ(poisoned.plain.dq, clean.plain.dq);
  EXPECT_EQ(poisoned.plain.dk, clean.plain.dk);
  EXPECT_EQ(poisoned.plain.dv, clean.plain.dv);
}

// ---- every stage at once
// -------------------------------------------------------------------------

// Learned numbers for sizes up to these, drawn once for both precisions.
constexpr std::int64_t kHeads = 2, kQueries = 110, kKeys = 150, kD = 6, kDv = 5, kClip = 3;

template <typename T>
struct AllStages {
  std::vector<T> factors, distances, keys, bias, key_bias, values;
  std::vector<T> d_factors, d_distances, d_keys, d_bias, d_key_bias, d_values;
  Temperature<T> temperature;
  DistanceBias<T> distance_bias;
  ShawKeys<T> shaw_keys;
  SoftCap<T> soft_cap;
  DenseBias<T> dense_bias, one_row;
  WeightDropout<T> dropout;
  ShawValues<T> shaw_values;
  std::vector<TileStage<T>*> modify, reweight;

  explicit AllStages(std::int64_t queries, std::int64_t keys_)
      : factors(numbers(kHeads, 21)),
        distances(numbers(kHeads * (queries + keys_), 22)),
        keys(numbers((2 * kClip + 1) * kD, 23)),
        bias(numbers(kHeads * queries * keys_, 24)),
        key_bias(numbers(2 * keys_, 25)),
        values(numbers(kHeads * (2 * kClip + 1) * kDv, 26)),
        d_factors(factors.size()),
        d_distances(distances.size()),
        d_keys(keys.size()),
        d_bias(bias.size()),
        d_key_bias(key_bias.size()),
        d_values(values.size()),
        temperature({factors.data(), 1, d_factors.data()}),
        distance_bias(
            {distances.data(), queries + keys_, keys_, queries + keys_, d_distances.data()}),
        shaw_keys({keys.data(), 0, kClip, kD, d_keys.data()}),
        soft_cap(T{2}),
        dense_bias({{bias.data(), 0, queries * keys_, keys_},
                    {d_bias.data(), 0, queries * keys_, keys_},
                    keys_}),
        one_row({{key_bias.data(), keys_, 0, 0}, {d_key_bias.data(), keys_, 0, 0}, keys_}),
        dropout(WeightMask({5, 6}, 0.25)),
        shaw_values({values.data(), (2 * kClip + 1) * kDv, kClip, kDv, d_values.data()}),
        modify{&temperature, &distance_bias, &shaw_keys, &soft_cap, &dense_bias, &one_row},
        reweight{&dropout, &shaw_values} {}
  AllStages(const AllStages&) = delete;
  AllStages& operator=(const AllStages&) = delete;

  static std::vector<T> numbers(std::int64_t n, std::uint64_t stream) {
    const std::vector<float> x = heed::test::random_floats(n, stream);
    return {x.begin(), x.end()};
  }

  void use_in(AttentionProgram<T>& program) {
    program.modifiers = modify;
    program.reweights = reweight;
  }
  std::vector<std::vector<T>*> learned() {
    return {&factors, &distances, &keys, &bias, &key_bias, &values};
  }
  std::vector<std::vector<T>*> gradients() {
    return {&d_factors, &d_distances, &d_keys, &d_bias, &d_key_bias, &d_values};
  }
};

bool sees(std::int64_t /*b*/, std::int64_t h, std::int64_t i, std::int64_t j) {
  return j <= i + 2 && (i + j + h) % 7 != 3 && i != 4;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i])) sum += a[i] * b[i];
  }
  return sum;
}

// Moves each number of x and compares what the loss does with the gradient.
template <typename Loss>
void expect_differences(std::vector<double>& x, const std::vector<double>& gradient,
                        const Loss& loss, const std::string& what) {
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double before = x[i];
    x[i] = before + kStep;
    const double above = loss();
    x[i] = before - kStep;
    const double below = loss();
    x[i] = before;
    const double expected = (above - below) / (2 * kStep);
    ASSERT_NEAR(gradient[i], expected, 1e-7 * std::max(1.0, std::abs(expected)))
        << what << ", element " << i;
  }
}

void check_gradients(Normalise normaliser, const double* sinks) {
  const TestMask mask(sees);
  AttentionProblem problem({2, kHeads, 1, 6, 7, kD, kDv});
  AllStages<double> stages(6, 7);
  stages.use_in(problem.d);
  problem.d.mask = &mask;
  problem.d.normaliser = normaliser;
  problem.d.sinks = sinks;
  std::vector<double> d_sinks(kHeads);
  if (sinks != nullptr) problem.d_sinks_plain = d_sinks.data();
  problem.run_plain();
  const AttentionArrays<double> first = problem.plain;
  std::vector<std::vector<double>> gradients;
  for (const auto* gradient : stages.gradients()) gradients.push_back(*gradient);

  const auto loss = [&] {
    problem.run_plain();
    const double of_output = dot(problem.plain.output, problem.plain.d_output);
    if (normaliser != Normalise::softmax) return of_output;
    return of_output + dot(problem.plain.log_sum_exp, problem.plain.d_log_sum_exp);
  };
  expect_differences(problem.plain.q, first.dq, loss, "q");
  expect_differences(problem.plain.k, first.dk, loss, "k");
  expect_differences(problem.plain.v, first.dv, loss, "v");
  const auto learned = stages.learned();
  for (std::size_t i = 0; i < learned.size(); ++i) {
    expect_differences(*learned[i], gradients[i], loss, fmt::format("learned {}", i));
  }
}

TEST(PlainAttention, GradientsEqualDifferencesWithEveryStage) {
  const double sinks[] = {0.5, -1.0};
  check_gradients(Normalise::softmax, nullptr);
  check_gradients(Normalise::softmax, sinks);
  check_gradients(Normalise::sigmoid, nullptr);
  check_gradients(Normalise::none, nullptr);
}

TEST(PlainAttention, GradientOfSinksEqualsDifferences) {
  std::vector<double> sinks = {0.5, -1.0}, d_sinks(2);
  AttentionProblem problem({1, 2, 2, 3, 4, 2, 2});
  problem.d.sinks = sinks.data();
  problem.d_sinks_plain = d_sinks.data();
  problem.run_plain();
  problem.d_sinks_plain = nullptr;
  expect_differences(
      sinks, d_sinks,
      [&] {
        problem.run_plain();
        return dot(problem.plain.output, problem.plain.d_output) +
               dot(problem.plain.log_sum_exp, problem.plain.d_log_sum_exp);
      },
      "sinks");
}

TEST(PlainAttention, GradientsOfAdditiveScoresEqualDifferences) {
  std::vector<double> w = {0.5, -1.0, 2.0, 1.5}, dw(4);
  AttentionProblem problem({1, 2, 1, 3, 4, 2, 2});
  problem.d.additive = w.data();
  problem.d.additive_head = 2;
  problem.d_additive_plain = dw.data();
  problem.run_plain();
  problem.d_additive_plain = nullptr;
  const AttentionArrays<double> first = problem.plain;
  const auto loss = [&] {
    problem.run_plain();
    return dot(problem.plain.output, problem.plain.d_output) +
           dot(problem.plain.log_sum_exp, problem.plain.d_log_sum_exp);
  };
  expect_differences(problem.plain.q, first.dq, loss, "q");
  expect_differences(problem.plain.k, first.dk, loss, "k");
  expect_differences(w, dw, loss, "additive");
}

TEST(PlainAttention, TiledEqualsPlainWithEveryStage) {
  for (const auto answers : {TestMask::Answers::exact, TestMask::Answers::nothing}) {
    const TestMask holes(sees,
                         answers == TestMask::Answers::exact ? TestMask::Answers::hull : answers);
    const TestMask causal([](auto, auto, auto i, auto j) { return j <= i + 30; }, answers);
    for (const Visibility* visibility :
         {static_cast<const Visibility*>(nullptr), static_cast<const Visibility*>(&causal),
          static_cast<const Visibility*>(&holes)}) {
      AttentionProblem problem({2, kHeads, 1, kQueries, kKeys, kD, kDv});
      problem.f.mask = problem.d.mask = visibility;
      AllStages<double> plain(kQueries, kKeys);
      plain.use_in(problem.d);
      problem.run_plain();
      heed::test::for_each_isa([&](Isa isa) {
        AllStages<float> fast(kQueries, kKeys);
        fast.use_in(problem.f);
        problem.run_fast();
        const std::string what = std::string(name_of(isa));
        problem.expect_forward_equal(1e-5, what);
        problem.expect_backward_equal(5e-5, what);
        for (std::size_t i = 0; i < fast.gradients().size(); ++i) {
          const std::vector<double> expected = *plain.gradients()[i];
          for (std::size_t n = 0; n < expected.size(); ++n) {
            ASSERT_NEAR((*fast.gradients()[i])[n], expected[n],
                        5e-5 * std::max(1.0, std::abs(expected[n])))
                << what << ", learned " << i << ", element " << n;
          }
        }
        AllStages<double> tiled(kQueries, kKeys);
        tiled.use_in(problem.d);
        problem.run_tiled();
        problem.expect_tiled_equal(1e-12, what + " in f64");
        for (std::size_t i = 0; i < tiled.gradients().size(); ++i) {
          const std::vector<double> expected = *plain.gradients()[i];
          for (std::size_t n = 0; n < expected.size(); ++n) {
            ASSERT_NEAR((*tiled.gradients()[i])[n], expected[n],
                        1e-12 * std::max(1.0, std::abs(expected[n])))
                << what << " in f64, learned " << i << ", element " << n;
          }
        }
      });
    }
  }
}

}  // namespace
}  // namespace heed::kernels::test
