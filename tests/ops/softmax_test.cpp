// Softmax and log-softmax as a user calls them: any axis, goldens, masked rows.
#include "heed/ops/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/autograd/tape.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/golden.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_golden;
using test::check_op;
using test::Golden;
using test::Named;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Softmax, EverySizeAndAxis) {
  const std::pair<Shape, int> cases[] = {
      {{1}, -1},     {{7}, 0},     {{17}, -1},     {{63}, 0},     {{65}, 0},
      {{5, 33}, -1}, {{5, 33}, 0}, {{2, 3, 5}, 1}, {{4, 129}, 1}, {{3, 1}, 1},
      {{0, 4}, 1},   {{4, 0}, 1},  {{70, 301}, 1}, {{301, 70}, 0}};
  for (const auto& [shape, axis] : cases) {
    check_op({.name = "softmax", .shapes = {shape}, .op = [axis = axis](auto in) {
                return softmax(in[0], axis);
              }});
    check_op({.name = "log_softmax", .shapes = {shape}, .op = [axis = axis](auto in) {
                return log_softmax(in[0], axis);
              }});
  }
}

TEST(Softmax, AgreesWithPyTorch) {
  for (const char* name : {"softmax", "softmax_dim1"}) {
    check_golden(name, [](const Golden& g) {
      return Named{{"y", softmax(g["x"], static_cast<int>(g.number("dim")))}};
    });
  }
  for (const char* name : {"log_softmax", "log_softmax_dim1"}) {
    check_golden(name, [](const Golden& g) {
      return Named{{"y", log_softmax(g["x"], static_cast<int>(g.number("dim")))}};
    });
  }
  check_golden("softmax_masked", [](const Golden& g) {
    return Named{{"y", softmax(where(g["hidden"], -kInfinity, g["x"]))}};
  });
}

TEST(Softmax, LargeValuesNeitherOverflowNorVanish) {
  const Tensor x = from_values({1e30f, 1e30f, -1e30f, 3e38f, 3e38f, -3e38f}, {2, 3});
  EXPECT_EQ(softmax(x).to_vector<float>(), (std::vector<float>{0.5, 0.5, 0, 0.5, 0.5, 0}));
  EXPECT_FLOAT_EQ(log_softmax(x).to_vector<float>()[4], std::log(0.5f));
}

TEST(Softmax, ARowThatIsAllMaskedIsZeroWithZeroGradient) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::int64_t n : {1, 8, 13}) {
      Tensor x = full({2, n}, -kInfinity, dtype).requires_grad();
      const Tensor y = softmax(x);
      EXPECT_TRUE(test::same_bits(y, zeros({2, n}, dtype)));
      backward(y, ones({2, n}, dtype));
      EXPECT_TRUE(test::same_bits(x.grad(), zeros({2, n}, dtype)));
      EXPECT_TRUE(test::same_bits(log_softmax(x), full({2, n}, -kInfinity, dtype)));
    }
  }
}

TEST(Softmax, NanGoesThroughEvenInAMaskedRow) {
  for (std::int64_t at = 0; at < 19; ++at) {
    Tensor x = full({19}, -kInfinity);
    x.mutable_data<float>()[at] = NAN;
    for (const float y : softmax(x).to_vector<float>()) EXPECT_TRUE(std::isnan(y));
    for (const float y : log_softmax(x).to_vector<float>()) EXPECT_TRUE(std::isnan(y));
  }
}

TEST(Softmax, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              softmax(ones({2, 3}), 2);
            }),
            "[softmax] axis 2 is outside a tensor of 2 dimensions: use -2 to 1");
  EXPECT_EQ(error_message([] { log_softmax(ones({2}, DType::i64)); }),
            "[log_softmax] dtype i64: this op computes in f32 or f64; use cast(x, DType::f32)");
}

}  // namespace
}  // namespace heed
