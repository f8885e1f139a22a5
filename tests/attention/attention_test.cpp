// The contract of the call, line by line.
#include "heed/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/attention/masks.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/attention/stages.h"
#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/base/threads.h"
#include "heed/kernels/reference/attention.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/attention/plain_attention.h"
#include "tests/support/error_message.h"
#include "tests/support/isa_guard.h"
#include "tests/support/op_case.h"

namespace heed::attention_test {
namespace {

using test::CaseSizes;
using test::for_each_isa;
using test::max_relative_error;
using test::PlainCall;
using test::same_bits;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Operands {
  Tensor q, k, v;
};

Operands random_operands(const CaseSizes& s, DType dtype = DType::f32, double scale = 1.0) {
  Generator generator(23);
  const std::vector<Shape> shapes = test::operand_shapes(s);
  const auto draw = [&](const Shape& shape) {
    Tensor x = cast_data(normal(shape, 0.0, scale, generator), dtype);
    return x.requires_grad();
  };
  return {draw(shapes[0]), draw(shapes[1]), draw(shapes[2])};
}

// The output and, from a fixed gradient of it, those of q, k and v.
struct Outcome {
  Tensor y, dq, dk, dv;
};

template <typename F>
Outcome outcome_of(const Operands& x, const F& f) {
  const Tensor y = f(x.q, x.k, x.v);
  Generator generator(3);
  backward(y, cast_data(normal(y.shape(), 0.0, 1.0, generator), y.dtype()));
  return {y, x.q.grad(), x.k.grad(), x.v.grad()};
}

Outcome run(const Operands& x, const AttentionSpec& spec) {
  return outcome_of(x, [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return attention(q, k, v, spec);
  });
}

void expect_same_bits(const Outcome& a, const Outcome& b, const std::string& what) {
  EXPECT_TRUE(same_bits(a.y, b.y)) << what << ": output";
  EXPECT_TRUE(same_bits(a.dq, b.dq)) << what << ": dq";
  EXPECT_TRUE(same_bits(a.dk, b.dk)) << what << ": dk";
  EXPECT_TRUE(same_bits(a.dv, b.dv)) << what << ": dv";
}

void expect_close(const Outcome& a, const Outcome& b, double tolerance, const std::string& what) {
  EXPECT_LE(max_relative_error(a.y, b.y), tolerance) << what << ": output";
  EXPECT_LE(max_relative_error(a.dq, b.dq), tolerance * 10) << what << ": dq";
  EXPECT_LE(max_relative_error(a.dk, b.dk), tolerance * 10) << what << ": dk";
  EXPECT_LE(max_relative_error(a.dv, b.dv), tolerance * 10) << what << ": dv";
}

constexpr CaseSizes kSizes{.B = 2, .H = 4, .G = 2, .Tq = 37, .Tk = 45, .D = 12, .Dv = 10};

TEST(Attention, SizesAndScales) {
  for (const std::int64_t n : {1, 7, 17, 63, 65, 200}) {
    for (const std::int64_t d : {1, 5, 16, 64, 100}) {
      const CaseSizes s{.B = 1, .H = 2, .G = 2, .Tq = n, .Tk = n + 3, .D = d, .Dv = d + 1};
      const Operands x = random_operands(s, DType::f64);
      const double scale = 1.0 / std::sqrt(static_cast<double>(d));
      const Outcome truth = outcome_of(x, [&](auto q, auto k, auto v) {
        return plain_attention(q, k, v, PlainCall{.scale = scale});
      });
      expect_close(run(random_operands(s, DType::f64), {}), truth, 1e-12, "f64");
      for_each_isa([&](Isa) {
        expect_close(run(random_operands(s), {}), truth, 2e-6,
                     "n = " + std::to_string(n) + ", d = " + std::to_string(d));
      });
    }
  }
}

TEST(Attention, LargeScoresAreAsGoodAsWrittenOut) {
  const CaseSizes s{.B = 1, .H = 2, .G = 1, .Tq = 150, .Tk = 170, .D = 64, .Dv = 64};
  for (const double scale : {10.0, 100.0}) {
    // Scores reach 4 scale^2; a sum of 64 products taken one after another strays by sqrt(64) half
    // units in their last place, and a weight by as much as its score.
    const double score_error = 4.0 * scale * scale * 8.0 * 0x1p-24;
    const auto on_the_twin = [&] {
      const kernels::reference::PlainAttention plain;
      return run(random_operands(s, DType::f64, scale), {});
    };
    const Outcome truth = on_the_twin();
    const Outcome plain = outcome_of(
        random_operands(s, DType::f32, scale),
        [](auto q, auto k, auto v) { return plain_attention(q, k, v, PlainCall{.scale = 0.125}); });
    for_each_isa([&](Isa) {
      const Outcome fused = run(random_operands(s, DType::f32, scale), {});
      const auto expect_as_good = [&](Tensor Outcome::*part, double more) {
        EXPECT_LE(max_relative_error(fused.*part, truth.*part),
                  more + 3.0 * max_relative_error(plain.*part, truth.*part));
      };
      expect_as_good(&Outcome::y, 2e-6);
      for (const auto part : {&Outcome::dq, &Outcome::dk, &Outcome::dv}) {
        expect_as_good(part, score_error);
      }
    });
  }
}

// All weight is read from the table, in other sums than that by which weights are divided.
TEST(Attention, WeightsOfLongRowsSumToOne) {
  const Tensor q = randn({1, 1, 50, 16}), k = randn({1, 1, 8192, 16});
  for_each_isa([&](Isa) {
    const Tensor y =
        attention(q, k, zeros(k.shape()), {.reweights = {shaw_values(ones({33, 16}))}});
    EXPECT_LE(max_relative_error(y, ones(y.shape())), 1.5e-6);
  });
}

TEST(Attention, ARowThatSeesNothingIsZeroWithoutGradient) {
  const Mask half = key_lengths({0, 45});
  const Mask holes = mask_fn([](int b, int, int, int j) { return b == 1 && j % 3 != 0; });
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const Mask& mask : {half, holes, half & causal()}) {
      const Operands x = random_operands(kSizes, dtype);
      const auto [y, lse] = attention_with_log_sum_exp(x.q, x.k, x.v, {.mask = mask});
      backward(y, ones(y.shape(), dtype));
      EXPECT_TRUE(same_bits(view::select(y, 0, 0), zeros({4, 37, 10}, dtype))) << mask.name();
      EXPECT_TRUE(same_bits(view::select(lse, 0, 0), full({4, 37}, -kInfinity, dtype)));
      for (const Tensor& x_i : {x.q, x.k, x.v}) {
        const Tensor gradient = view::select(x_i.grad(), 0, 0);
        EXPECT_EQ(sum(abs(gradient)).item(), 0.0) << mask.name();
        EXPECT_GT(sum(abs(x_i.grad())).item(), 0.0) << mask.name();
      }
    }
  }
}

// Keys 20 on are hidden by each of these.
std::vector<Mask> masks_of_tail() {
  Tensor seen = zeros({45}, DType::boolean);
  for (int j = 0; j < 20; ++j) seen.mutable_data<bool>()[j] = j % 4 != 1;
  Tensor ids = zeros({2, 45}, DType::i64), q_ids = zeros({2, 37}, DType::i64);
  for (int b = 0; b < 2; ++b) {
    for (int j = 20; j < 45; ++j) ids.mutable_data<std::int64_t>()[b * 45 + j] = 1 - 2 * (j % 2);
  }
  return {key_lengths({20, 20}),
          key_lengths({20, 20}) & causal(Corner::offset(-3)),
          boolean_mask(seen),
          segments(q_ids, ids),
          mask_fn([](int, int, int i, int j) { return j < 20 && (i + j) % 5 != 0; }),
          key_lengths({20, 20}) &
              (window(2, 2) | mask_fn([](int, int, int i, int j) { return (i + j) % 3 == 0; }))};
}

// Keys and values from `first` on are all `poison`.
Operands poisoned(const CaseSizes& s, DType dtype, std::int64_t first, double poison) {
  Operands x = random_operands(s, dtype);
  for (const Tensor& tensor : {x.k, x.v}) {
    Tensor tail = view::slice(tensor.detach(), 2, first, s.Tk);
    copy_into(tail, full({}, poison, dtype));
  }
  return x;
}

TEST(Attention, WhatIsHiddenCannotLeak) {
  EXPECT_TRUE(std::isnan(sum(poisoned(kSizes, DType::f32, 20, kNan).k).item()));
  for (const DType dtype : {DType::f32, DType::f64}) {
    for_each_isa([&](Isa isa) {
      for (const Mask& mask : masks_of_tail()) {
        const AttentionSpec spec{.modifiers = {soft_cap(8.0)}, .mask = mask};
        for (const double poison : {kNan, kInfinity, -kInfinity}) {
          const std::string what = mask.name() + " on " + std::string(name_of(isa));
          expect_close(run(poisoned(kSizes, dtype, 20, poison), {.mask = mask}),
                       run(random_operands(kSizes, dtype), {.mask = mask}), 1e-6, what);
          expect_close(run(poisoned(kSizes, dtype, 20, poison), spec),
                       run(random_operands(kSizes, dtype), spec), 1e-6, what + ", soft_cap");
        }
      }
    });
  }
}

TEST(Attention, WhatIsHiddenCannotLeakThroughAnyStage) {
  const CaseSizes s{.B = 1, .H = 2, .G = 1, .Tq = 21, .Tk = 30, .D = 4, .Dv = 4};
  const Mask mask = key_lengths({13});
  for (const test::StageCase& stage : test::stage_cases(s)) {
    Generator generator(8);
    std::vector<Tensor> parameters, again;
    for (const Shape& shape : stage.parameters) {
      parameters.push_back(uniform(shape, -1.0, 1.0, generator));
      again.push_back(parameters.back().detach());
      parameters.back().requires_grad();
      again.back().requires_grad();
    }
    AttentionSpec spec{.mask = mask}, other{.mask = mask};
    stage.use(spec, parameters);
    stage.use(other, again);
    expect_close(run(poisoned(s, DType::f32, 13, kNan), spec), run(random_operands(s), other), 1e-6,
                 stage.name);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_LE(max_relative_error(parameters[i].grad(), again[i].grad()), 1e-6) << stage.name;
    }
  }
}

TEST(Attention, CausalCornersWithUnequalLengths) {
  for (const auto& [Tq, Tk] : {std::pair{30, 45}, {45, 30}, {1, 20}, {20, 1}}) {
    const CaseSizes s{.B = 1, .H = 1, .G = 1, .Tq = Tq, .Tk = Tk, .D = 8, .Dv = 8};
    for (const auto& [corner, shift] : {std::pair{Corner(Corner::top_left), std::int64_t{0}},
                                        {Corner(Corner::bottom_right), s.Tk - s.Tq},
                                        {Corner::offset(4), 4},
                                        {Corner::offset(-4), -4}}) {
      PlainCall plain{.scale = 1.0};
      plain.seen =
          cast_data(test::by_pairs(s, DType::f32,
                                   [d = shift](auto i, auto j) { return j <= i + d ? 1.0 : 0.0; }),
                    DType::boolean);
      const Operands x = random_operands(s, DType::f64);
      const Outcome truth =
          outcome_of(x, [&](auto q, auto k, auto v) { return plain_attention(q, k, v, plain); });
      expect_close(run(random_operands(s), {.score = dot_score(), .mask = causal(corner)}), truth,
                   2e-6, "causal");
    }
  }
}

TEST(Attention, StagesRunInTheOrderGiven) {
  const Tensor x = full({1, 1, 2, 1}, 2.0);
  const Tensor v = from_values<float>({0, 1}, {1, 1, 2, 1});
  const Modifier bias = dense_bias(from_values<float>({0, 5}, {2}));
  const auto weight = [&](std::vector<Modifier> modifiers) {
    return attention(x, x, v, {.score = dot_score(), .modifiers = modifiers}).to_vector<float>()[0];
  };
  const auto sigmoid = [](double s) { return 1.0 / (1.0 + std::exp(-s)); };
  EXPECT_NEAR(weight({soft_cap(3.0), bias}), sigmoid(5.0), 1e-6);
  EXPECT_NEAR(weight({bias, soft_cap(3.0)}),
              sigmoid(3.0 * std::tanh(9.0 / 3.0) - 3.0 * std::tanh(4.0 / 3.0)), 1e-6);
}

TEST(Attention, QueryHeadsReadTheirGroupsKeys) {
  const CaseSizes s{.B = 2, .H = 6, .G = 2, .Tq = 9, .Tk = 11, .D = 8, .Dv = 8};
  const Operands x = random_operands(s);
  const Tensor heads = from_values<std::int64_t>({0, 0, 0, 1, 1, 1}, {6});
  EXPECT_TRUE(same_bits(attention(x.q, x.k, x.v),
                        attention(x.q, index_select(x.k, 1, heads), index_select(x.v, 1, heads))));
}

TEST(Attention, BitsDependNotOnThreads) {
  const CaseSizes s{.B = 2, .H = 4, .G = 2, .Tq = 230, .Tk = 1300, .D = 16, .Dv = 16};
  const AttentionSpec spec{.modifiers = {soft_cap(20.0)},
                           .mask = causal(Corner::bottom_right),
                           .reweights = {weight_dropout(0.2, 5)}};
  const int before = num_threads();
  set_num_threads(1);
  const Outcome one = run(random_operands(s), spec);
  for (const int threads : {2, 3, 8}) {
    set_num_threads(threads);
    expect_same_bits(run(random_operands(s), spec), one, std::to_string(threads) + " threads");
  }
  set_num_threads(before);
}

TEST(Attention, BitsDependNotOnTheRestOfTheBatch) {
  const CaseSizes s{.B = 3, .H = 2, .G = 1, .Tq = 70, .Tk = 90, .D = 16, .Dv = 16};
  const std::vector<std::int64_t> lengths{90, 3, 41};
  const Operands all = random_operands(s);
  const Tensor y = attention(all.q, all.k, all.v, {.mask = key_lengths(lengths)});
  Generator generator(3);
  const Tensor dy = normal(y.shape(), 0.0, 1.0, generator);
  backward(y, dy);
  for (std::int64_t b = 0; b < 3; ++b) {
    const auto part = [&](const Tensor& x) { return view::slice(x.detach(), 0, b, b + 1); };
    Operands one{part(all.q), part(all.k), part(all.v)};
    for (Tensor* const x : {&one.q, &one.k, &one.v}) x->requires_grad();
    const Tensor alone = attention(one.q, one.k, one.v,
                                   {.mask = key_lengths({lengths[static_cast<std::size_t>(b)]})});
    backward(alone, contiguous_copy(part(dy)));
    expect_same_bits({alone, one.q.grad(), one.k.grad(), one.v.grad()},
                     {part(y), part(all.q.grad()), part(all.k.grad()), part(all.v.grad())},
                     "sequence " + std::to_string(b));
  }
}

TEST(Attention, MinusInfinityInABiasHides) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor bias = zeros({37, 45}, dtype);
    Tensor seen = ones({37, 45}, DType::boolean);
    for (std::int64_t n = 0; n < 37 * 45; ++n) {
      if (n % 45 > 20 || n / 45 == 3) {
        Tensor at = view::select(view::reshape(bias, {37 * 45}), 0, n);
        copy_into(at, full({}, -kInfinity, dtype));
        seen.mutable_data<bool>()[n] = false;
      }
    }
    expect_close(run(random_operands(kSizes, dtype), {.modifiers = {dense_bias(bias)}}),
                 run(random_operands(kSizes, dtype), {.mask = boolean_mask(seen)}), 1e-6, "-inf");
  }
}

TEST(Attention, InfinityInABiasStaysInItsRow) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor bias = zeros({37, 45}, dtype);
    Tensor at = view::slice(view::slice(bias, 0, 5, 6), 1, 7, 8);
    copy_into(at, full({}, kInfinity, dtype));
    const Tensor y = run(random_operands(kSizes, dtype), {.modifiers = {dense_bias(bias)}}).y;
    const Tensor expected = run(random_operands(kSizes, dtype), {}).y;
    for (std::int64_t i = 0; i < 37; ++i) {
      const Tensor row = view::select(y, 2, i);
      if (i == 5) {
        for (const double x : cast_data(contiguous_copy(row), DType::f64).to_vector<double>()) {
          EXPECT_TRUE(std::isnan(x));
        }
      } else {
        EXPECT_LE(max_relative_error(row, view::select(expected, 2, i)), 1e-6);
      }
    }
  }
}

TEST(Attention, TheSameSeedGivesTheSameDropout) {
  const auto with = [](Reweight dropout) {
    return run(random_operands(kSizes), {.reweights = {std::move(dropout)}});
  };
  expect_same_bits(with(weight_dropout(0.4, 7)), with(weight_dropout(0.4, 7)), "seed 7");
  EXPECT_FALSE(same_bits(with(weight_dropout(0.4, 7)).y, with(weight_dropout(0.4, 8)).y));
  expect_same_bits(with(weight_dropout(0.0)), run(random_operands(kSizes), {}), "p = 0");
}

TEST(Attention, EmptySizesAreLegal) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const CaseSizes& s : {CaseSizes{.B = 0}, CaseSizes{.Tq = 0}, CaseSizes{.Tk = 0},
                               CaseSizes{.B = 0, .Tq = 0, .Tk = 0}}) {
      for (const Mask& mask : {Mask(), causal()}) {
        const Operands x = random_operands(s, dtype);
        const auto [y, lse] = attention_with_log_sum_exp(x.q, x.k, x.v, {.mask = mask});
        EXPECT_TRUE(same_bits(y, zeros({s.B, s.H, s.Tq, s.Dv}, dtype)));
        EXPECT_TRUE(same_bits(lse, full({s.B, s.H, s.Tq}, -kInfinity, dtype)));
        backward(y, ones(y.shape(), dtype));
        for (const Tensor& x_i : {x.q, x.k, x.v}) {
          EXPECT_TRUE(same_bits(x_i.grad(), zeros(x_i.shape(), dtype)));
        }
      }
    }
  }
}

TEST(Attention, LogSumExpIsThatOfTheScoresAndHasAGradient) {
  const CaseSizes s{.B = 1, .H = 2, .G = 1, .Tq = 4, .Tk = 5, .D = 3, .Dv = 2};
  Operands x = random_operands(s, DType::f64);
  const auto [y, lse] = attention_with_log_sum_exp(x.q, x.k, x.v, {.mask = causal()});
  for (std::int64_t i = 0; i < 4; ++i) {
    double total = 0.0;
    for (std::int64_t j = 0; j <= i; ++j) {
      double score = 0.0;
      for (std::int64_t d = 0; d < 3; ++d) {
        score += x.q.data<double>()[i * 3 + d] * x.k.data<double>()[j * 3 + d];
      }
      total += std::exp(score / std::sqrt(3.0));
    }
    EXPECT_NEAR(lse.to_vector<double>()[static_cast<std::size_t>(i)], std::log(total), 1e-12);
  }
  const std::vector<Tensor> inputs{x.q, x.k, x.v};
  for (const double both : {0.0, 1.0}) {
    const GradCheckResult result = gradcheck(
        [&](std::span<const Tensor> in) {
          const AttentionResult a =
              attention_with_log_sum_exp(in[0], in[1], in[2], {.mask = causal()});
          return unsqueeze(a.log_sum_exp, 3) + a.output * both;
        },
        inputs);
    EXPECT_TRUE(result.ok) << result.message;
  }
  test::check_op({.name = "log_sum_exp",
                  .shapes = test::operand_shapes(kSizes),
                  .op =
                      [](auto in) {
                        const AttentionResult a = attention_with_log_sum_exp(
                            in[0], in[1], in[2], {.mask = causal(Corner::bottom_right)});
                        return unsqueeze(a.log_sum_exp, 3) + a.output;
                      },
                  .tolerance = 4e-6,
                  .gradient_tolerance = 4e-5});
}

TEST(AttentionInto, WritesTheSameBitsWhereverItIsTold) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    Generator generator(29);
    const auto draw = [&](const Shape& shape) {
      return cast_data(normal(shape, 0.0, 1.0, generator), dtype);
    };
    const Operands x{draw({2, 4, 37, 12}), draw({2, 2, 53, 12}), draw({2, 2, 53, 5})};
    const Tensor expected = attention(x.q, x.k, x.v, {.mask = causal()}).detach();
    Tensor plain = zeros(expected.shape(), dtype);
    attention_into(plain, x.q, x.k, x.v, {.mask = causal()});
    EXPECT_TRUE(same_bits(plain, expected));
    EXPECT_FALSE(plain.tracks_grad());
    Tensor rows_first = view::transpose(zeros({2, 37, 4, expected.size(3)}, dtype), 1, 2);
    attention_into(rows_first, x.q, x.k, x.v, {.mask = causal()});
    EXPECT_TRUE(same_bits(contiguous_copy(rows_first), expected));
    Tensor features_first = view::transpose(zeros({2, 4, expected.size(3), 37}, dtype), 2, 3);
    attention_into(features_first, x.q, x.k, x.v, {.mask = causal()});
    EXPECT_TRUE(same_bits(contiguous_copy(features_first), expected));
  }
}

TEST(AttentionInto, RefusesWhatDoesNotFit) {
  const Operands x = random_operands({.B = 2, .H = 4, .G = 2, .Tq = 5, .Tk = 6, .D = 12, .Dv = 12});
  Tensor wrong = zeros({2, 4, 6, 12});
  EXPECT_EQ(error_message([&] { attention_into(wrong, x.q, x.k, x.v); }),
            "[attention] out is f32 [2, 4, 6, 12]: the result is f32 [2, 4, 5, 12]");
  Tensor undefined;
  EXPECT_EQ(error_message([&] { attention_into(undefined, x.q, x.k, x.v); }),
            "[attention] out is undefined []: the result is f32 [2, 4, 5, 12]");
}

}  // namespace
}  // namespace heed::attention_test
