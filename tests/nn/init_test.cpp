// First values: ranges, moments, and that the generator alone decides.
#include "heed/nn/init.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

struct Moments {
  double mean, deviation, largest;
};

Moments moments_of(const Tensor& x) {
  double sum = 0.0, squares = 0.0, largest = 0.0;
  for (const float v : x.values<float>()) {
    sum += v;
    squares += static_cast<double>(v) * v;
    largest = std::max(largest, std::abs(static_cast<double>(v)));
  }
  const double n = static_cast<double>(x.numel());
  return {sum / n, std::sqrt(squares / n - sum / n * sum / n), largest};
}

void expect_moments(const Tensor& x, double deviation, double range) {
  const Moments m = moments_of(x);
  EXPECT_NEAR(m.mean, 0.0, deviation * 0.03);
  EXPECT_NEAR(m.deviation, deviation, deviation * 0.03);
  if (std::isfinite(range)) {
    EXPECT_LE(m.largest, range);
    EXPECT_GT(m.largest, 0.99 * range);
  } else {
    EXPECT_GT(m.largest, 3.0 * deviation);  // no uniform distribution gets there
  }
}

TEST(Init, Fans) {
  EXPECT_EQ(init::fans_of(empty({5, 7})).in, 7);
  EXPECT_EQ(init::fans_of(empty({5, 7})).out, 5);
  EXPECT_EQ(init::fans_of(empty({5, 7, 3, 2})).in, 42);
  EXPECT_EQ(init::fans_of(empty({5, 7, 3, 2})).out, 30);
  EXPECT_THAT(error_message([] { init::fans_of(empty({5})); }),
              testing::HasSubstr("has no fan-in"));
}

TEST(Init, DistributionsHaveTheirMoments) {
  Generator generator(3);
  Tensor w = empty({200, 100});
  const double infinity = std::numeric_limits<double>::infinity();
  init::xavier_uniform(w, generator);
  expect_moments(w, std::sqrt(2.0 / 300), std::sqrt(6.0 / 300));
  init::xavier_uniform(w, generator, 2.0);
  expect_moments(w, 2.0 * std::sqrt(2.0 / 300), 2.0 * std::sqrt(6.0 / 300));
  init::xavier_normal(w, generator);
  expect_moments(w, std::sqrt(2.0 / 300), infinity);
  init::kaiming_uniform(w, generator);  // PyTorch's range for a linear layer: 1/sqrt(in)
  expect_moments(w, 0.1 / std::sqrt(3.0), 0.1);
  init::kaiming_uniform(w, generator, std::sqrt(2.0));
  expect_moments(w, std::sqrt(2.0 / 100), std::sqrt(6.0 / 100));
  init::normal(w, 0.02, generator);
  expect_moments(w, 0.02, infinity);
  init::uniform(w, -0.5, 0.5, generator);
  expect_moments(w, 0.5 / std::sqrt(3.0), 0.5);
}

TEST(Init, Constants) {
  Tensor w = empty({3});
  init::ones(w);
  EXPECT_EQ(w.to_vector<float>(), std::vector<float>({1, 1, 1}));
  init::zeros(w);
  EXPECT_EQ(w.to_vector<float>(), std::vector<float>({0, 0, 0}));
  init::constant(w, 2.5);
  EXPECT_EQ(w.to_vector<float>(), std::vector<float>({2.5, 2.5, 2.5}));
}

TEST(Init, TheGeneratorDecides) {
  Generator a(3), b(3), c(4);
  Tensor x = empty({7, 5}), y = empty({7, 5}), z = empty({7, 5});
  init::xavier_normal(x, a);
  init::xavier_normal(y, b);
  init::xavier_normal(z, c);
  EXPECT_TRUE(test::same_bits(x, y));
  EXPECT_FALSE(test::same_bits(x, z));
  init::xavier_normal(y, b);  // the next stream
  EXPECT_FALSE(test::same_bits(x, y));
}

TEST(Init, CanBeSkipped) {
  Generator generator(1);
  const Tensor before = randn({3, 4});
  Tensor w = clone_data(before);
  {
    const init::Skipped outer;
    { const init::Skipped inner; }
    init::zeros(w);
    init::ones(w);
    init::constant(w, 2.0);
    init::uniform(w, 0.0, 1.0, generator);
    init::normal(w, 1.0, generator);
    init::xavier_uniform(w, generator);
    init::kaiming_uniform(w, generator);
    EXPECT_TRUE(test::same_bits(w, before));
    std::thread other([] {
      Tensor x = empty({3});
      init::ones(x);
      EXPECT_EQ(x.to_vector<float>(), std::vector<float>({1, 1, 1})) << "another thread's";
    });
    other.join();
  }
  init::ones(w);
  EXPECT_FALSE(test::same_bits(w, before));
}

TEST(Init, KeepsTheLeaf) {
  Generator generator(1);
  Tensor w = zeros({3, 3}).requires_grad();
  const Tensor handle = w;
  init::xavier_uniform(w, generator);
  EXPECT_EQ(w.node(), handle.node());
  EXPECT_TRUE(test::same_bits(w, handle));
}

}  // namespace
}  // namespace heed
