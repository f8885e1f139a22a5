#include "heed/attention/positions/shaw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/attention/attention.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

// Equations 3 and 4 of the paper, by loops, one head.
TEST(ShawRelative, KeysAndValuesAreThoseOfThePaper) {
  ShawRelative code({.clip = 2}, {.head = 3});
  code.to(DType::f64);
  const std::int64_t T = 6, D = 3;
  const Tensor q = randn({1, 1, T, D}, DType::f64), k = randn({1, 1, T, D}, DType::f64);
  const Tensor v = randn({1, 1, T, D}, DType::f64);
  AttentionSpec spec;
  code.modify(spec, Corner::top_left);
  const std::vector<double> y = attention(q, k, v, spec).to_vector<double>();
  const auto at = [](const Tensor& x, std::int64_t row, std::int64_t d) {
    return x.data<double>()[row * D + d];
  };
  const auto row_of = [](std::int64_t i, std::int64_t j) {
    return std::clamp<std::int64_t>(j - i, -2, 2) + 2;
  };
  for (std::int64_t i = 0; i < T; ++i) {
    std::vector<double> output(D, 0.0);
    double total = 0.0;
    for (std::int64_t j = 0; j < T; ++j) {
      double score = 0.0;
      for (std::int64_t d = 0; d < D; ++d) {
        score += at(q, i, d) * (at(k, j, d) + at(code.keys, row_of(i, j), d));
      }
      const double weight = std::exp(score / std::sqrt(3.0));
      total += weight;
      for (std::int64_t d = 0; d < D; ++d) {
        output[static_cast<std::size_t>(d)] +=
            weight * (at(v, j, d) + at(code.values, row_of(i, j), d));
      }
    }
    for (std::int64_t d = 0; d < D; ++d) {
      EXPECT_NEAR(y[static_cast<std::size_t>(i * D + d)],
                  output[static_cast<std::size_t>(d)] / total, 1e-12);
    }
  }
}

TEST(ShawRelative, ParametersAndTheirSizes) {
  const ShawRelative code({.clip = 4}, {.head = 8});
  const auto parameters = code.named_parameters();
  ASSERT_EQ(parameters.size(), 2u);
  EXPECT_EQ(parameters[0].name, "keys");
  EXPECT_EQ(parameters[1].name, "values");
  EXPECT_EQ(parameters[1].tensor.shape(), (Shape{9, 8}));
}

TEST(ShawRelative, BadSizes) {
  EXPECT_EQ(error_message([] { ShawRelative({.clip = -1}, {.head = 8}); }),
            "[shaw] clip is -1: it must be at least 0");
  EXPECT_EQ(error_message([] { ShawRelative({}, {}); }), "[shaw] head is 0: it must be at least 1");
}

}  // namespace
}  // namespace heed
