// Every stage, alone and in pairs, against attention written out with ops.
#include "heed/attention/stage.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/attention/plain_attention.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::CaseSizes;
using test::OpCase;
using test::plain_attention;
using test::PlainCall;
using test::StageCase;

// q, k, v and the parameters of some stages, fused or plain, below a causal mask.
struct Composition {
  CaseSizes sizes;
  std::vector<StageCase> stages;

  std::vector<Shape> shapes() const {
    std::vector<Shape> all = test::operand_shapes(sizes);
    for (const StageCase& stage : stages) {
      all.insert(all.end(), stage.parameters.begin(), stage.parameters.end());
    }
    return all;
  }
  std::string name() const {
    std::string joined;
    for (const StageCase& stage : stages) joined += (joined.empty() ? "" : ", ") + stage.name;
    return joined;
  }
  template <typename F>
  void for_each(std::span<const Tensor> in, const F& f) const {
    std::size_t first = 3;
    for (const StageCase& stage : stages) {
      f(stage, in.subspan(first, stage.parameters.size()));
      first += stage.parameters.size();
    }
  }
  Tensor fused(std::span<const Tensor> in) const {
    AttentionSpec spec{.score = scaled_dot_score(0.6), .mask = causal(Corner::offset(3))};
    for_each(in, [&](const StageCase& stage, auto parameters) { stage.use(spec, parameters); });
    return attention(in[0], in[1], in[2], spec);
  }
  Tensor plain(std::span<const Tensor> in) const {
    PlainCall call{.scale = 0.6};
    call.seen = cast_data(
        test::by_pairs(sizes, DType::f32, [](auto i, auto j) { return j <= i + 3 ? 1.0 : 0.0; }),
        DType::boolean);
    for_each(in, [&](const StageCase& stage, auto parameters) {
      call.stages.push_back({stage.plain, {parameters.begin(), parameters.end()}});
    });
    return plain_attention(in[0], in[1], in[2], call);
  }
};

std::vector<Tensor> random_inputs(const std::vector<Shape>& shapes) {
  Generator generator(11);
  std::vector<Tensor> inputs;
  for (const Shape& shape : shapes) {
    Tensor x = uniform(shape, -1.5, 1.5, generator, DType::f64);
    inputs.push_back(x.requires_grad());
  }
  return inputs;
}

// Value and gradients in double, fused against plain.
void expect_equal(const Composition& c) {
  const std::vector<Tensor> a = random_inputs(c.shapes()), b = random_inputs(c.shapes());
  const Tensor y = c.fused(a), expected = c.plain(b);
  EXPECT_LE(test::max_relative_error(y, expected), 1e-12) << c.name();
  Generator generator(5);
  const Tensor dy = normal(y.shape(), 0.0, 1.0, generator, DType::f64);
  backward(y, dy);
  backward(expected, dy);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_LE(test::max_relative_error(a[i].grad(), b[i].grad()), 1e-11)
        << c.name() << ": gradient of input " << i;
  }
}

TEST(Stages, AloneEqualThePlainOnes) {
  const CaseSizes sizes{.B = 2, .H = 4, .G = 2, .Tq = 11, .Tk = 8, .D = 5, .Dv = 6};
  expect_equal({sizes, {}});
  for (const StageCase& stage : test::stage_cases(sizes)) expect_equal({sizes, {stage}});
}

TEST(Stages, InPairsEqualThePlainOnesInThatOrder) {
  const CaseSizes sizes;
  const std::vector<StageCase> cases = test::stage_cases(sizes);
  for (const StageCase& first : cases) {
    for (const StageCase& second : cases) {
      if (first.plain.score && second.plain.score) continue;  // there can be only one
      expect_equal({sizes, {first, second}});
    }
  }
}

TEST(Stages, GradientsAreThoseOfDifferencesAloneAndInPairs) {
  const CaseSizes sizes{.Tq = 3, .Tk = 4, .D = 2, .Dv = 2};
  const std::vector<StageCase> cases = test::stage_cases(sizes);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t k = i; k < cases.size(); ++k) {
      const Composition c{sizes, k == i ? std::vector{cases[i]} : std::vector{cases[i], cases[k]}};
      const GradCheckResult result = gradcheck(
          [&](std::span<const Tensor> in) { return c.fused(in); }, random_inputs(c.shapes()));
      EXPECT_TRUE(result.ok) << c.name() << ": " << result.message;
    }
  }
}

TEST(Stages, AgreeInBothPrecisionsOnEveryInstructionSet) {
  for (const CaseSizes& sizes :
       {CaseSizes{.B = 2, .H = 2, .G = 1, .Tq = 7, .Tk = 9, .D = 8, .Dv = 8},
        CaseSizes{.B = 1, .H = 2, .G = 2, .Tq = 131, .Tk = 150, .D = 17, .Dv = 9}}) {
    for (const StageCase& stage : test::stage_cases(sizes)) {
      const Composition c{sizes, {stage}};
      test::check_op({.name = c.name(),
                      .shapes = c.shapes(),
                      .op = [&](auto in) { return c.fused(in); },
                      .tolerance = 4e-6,
                      .gradient_tolerance = 4e-5});
    }
  }
}

TEST(Stages, ParametersHaveTheDtypeOfTheCall) {
  EXPECT_EQ(error_message([] { check_parameter("alibi", "slopes", ones({2}), DType::f64); }),
            "[attention] slopes of alibi is f32, this call computes in f64: use cast(x, "
            "DType::f64)");
  EXPECT_EQ(error_message([] { check_parameter("alibi", "slopes", Tensor(), DType::f64); }),
            "[attention] slopes of alibi is an undefined tensor");
}

TEST(Stages, ThereIsRoomForMany) {
  const Tensor x = ones({1, 1, 2, 3});
  AttentionSpec spec;
  for (int i = 0; i < 16; ++i) spec.modifiers.push_back(soft_cap(5.0));
  EXPECT_NO_THROW(attention(x, x, x, spec));
  spec.modifiers.push_back(soft_cap(5.0));
  EXPECT_EQ(error_message([&] { attention(x, x, x, spec); }),
            "[attention] more than 16 stages in one list: join some of them");
}

}  // namespace
}  // namespace heed
