// Vectors of texts: which states they are made of, padding, and their length.
#include "heed/models/pooling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradcheck.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/models/model_case.h"

namespace heed::pooling_test {
namespace {

using test::lengths_of;
using test::row_of;
using test::same_bits;

Tensor state(const Tensor& x, std::int64_t b, std::int64_t t) {
  return clone_data(view::select(view::select(x, 0, b), 0, t));
}

TEST(Pooling, TakesTheFirstOrTheLastStateOfEachText) {
  const Tensor x = randn({3, 5, 4}), lengths = lengths_of({5, 2, 1});
  const Tensor first = pool(x, lengths, Pooling::first), last = pool(x, lengths, Pooling::last);
  const std::int64_t ends[] = {4, 1, 0};
  for (std::int64_t b = 0; b < 3; ++b) {
    EXPECT_TRUE(same_bits(row_of(first, b), state(x, b, 0))) << b;
    EXPECT_TRUE(same_bits(row_of(last, b), state(x, b, ends[b]))) << b;
  }
  EXPECT_TRUE(same_bits(pool(x, {}, Pooling::first), first));
  EXPECT_TRUE(same_bits(pool(x, {}, Pooling::last), pool(x, lengths_of({5, 5, 5}), Pooling::last)));
}

TEST(Pooling, MeansIgnorePadding) {
  const Tensor x = from_values({1.0f, 2.0f, 3.0f, 10.0f, 20.0f, 60.0f}, {2, 3, 1});
  const Tensor mean = pool(x, lengths_of({3, 2}), Pooling::mean);
  EXPECT_EQ(mean.to_vector<float>(), (std::vector<float>{2.0f, 15.0f}));
}

TEST(Pooling, ATextWithoutTokensIsZero) {
  const Tensor x = randn({2, 3, 4});
  for (const auto& [pooling, name] : enum_names(Pooling{})) {
    const Tensor y = pool(x, lengths_of({0, 3}), pooling);
    EXPECT_TRUE(same_bits(row_of(y, 0), zeros({4}))) << name;
    EXPECT_FALSE(same_bits(row_of(y, 1), zeros({4}))) << name;
    EXPECT_TRUE(same_bits(pool(empty({2, 0, 4}), lengths_of({0, 0}), pooling), zeros({2, 4})));
  }
}

TEST(Pooling, HasGradients) {
  for (const auto& [pooling, name] : enum_names(Pooling{})) {
    const std::vector<Tensor> inputs = {randn({2, 3, 4}, DType::f64).requires_grad()};
    const Pooling how = pooling;
    const GradCheckResult result = gradcheck(
        [&](std::span<const Tensor> in) {
          return unit_rows(pool(in[0], lengths_of({3, 2}), how));
        },
        inputs);
    EXPECT_TRUE(result.ok) << name << ": " << result.message;
  }
}

TEST(UnitRows, HaveLengthOne) {
  const Tensor x = from_values({3.0f, 4.0f, 0.0f, 0.0f, 1e-20f, 0.0f}, {3, 2});
  const std::vector<float> y = unit_rows(x).to_vector<float>();
  EXPECT_FLOAT_EQ(y[0], 0.6f);
  EXPECT_FLOAT_EQ(y[1], 0.8f);
  EXPECT_EQ(y[2], 0.0f) << "a row of zeros";
  EXPECT_FLOAT_EQ(y[4], 1e-8f) << "a length below 1e-12, as in PyTorch";
}

TEST(UnitRows, OfZerosHaveAFiniteGradient) {
  Tensor x = zeros({1, 2}).requires_grad();
  sum(unit_rows(x)).backward();
  for (const float g : x.grad().to_vector<float>()) EXPECT_TRUE(std::isfinite(g)) << g;
}

}  // namespace
}  // namespace heed::pooling_test
