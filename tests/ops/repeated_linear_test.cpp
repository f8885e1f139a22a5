#include "heed/ops/repeated_linear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed::repeated_linear_test {
namespace {

using test::check_op;

// h = tanh(W h + b + x_t) over the steps of x [B, T, H]; all states.
template <typename Map>
Tensor recur(const Tensor& x, const Map& map) {
  Tensor h = zeros({x.size(0), x.size(2)}, x.dtype());
  std::vector<Tensor> states;
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    h = tanh(map(h) + select(x, 1, t));
    states.push_back(h);
  }
  return stack(states, 1);  // [B, T, H]
}

TEST(RepeatedLinear, ValuesAndGradients) {
  check_op({.name = "repeated_linear",
            .shapes = {{2, 4, 5}, {5, 5}, {5}},
            .op = [](auto in) { return recur(in[0], RepeatedLinear(in[1], in[2])); },
            .low = -1,
            .high = 1});
}

// Rows of 256 elements collide in the cache and are copied.
void expect_gradients_of_linear(std::int64_t size) {
  for (const bool biased : {true, false}) {
    const Tensor x = randn({3, 7, size}).requires_grad();
    const double scale = 1.0 / std::sqrt(static_cast<double>(size));
    const Tensor w = (randn({size, size}) * scale).detach().requires_grad();
    const Tensor b = randn({size}).requires_grad();
    const Tensor bias = biased ? b : Tensor();
    sum(square(recur(x, RepeatedLinear(w, bias)))).backward();
    const Tensor dx = x.grad(), dw = w.grad(), db = b.grad();
    for (Tensor leaf : {x, w, b}) leaf.set_grad({});
    const Tensor y = recur(x, [&](const Tensor& h) { return linear(h, w, {.bias = bias}); });
    EXPECT_TRUE(test::same_bits(y, recur(x, RepeatedLinear(w, bias))));
    sum(square(y)).backward();
    EXPECT_LE(test::max_relative_error(dx, x.grad()), 1e-6);
    EXPECT_LE(test::max_relative_error(dw, w.grad()), 1e-5);
    EXPECT_EQ(db.defined(), biased);
    if (!biased) continue;
    EXPECT_LE(test::max_relative_error(db, b.grad()), 1e-5);
  }
}
TEST(RepeatedLinear, GivesTheGradientsOfLinear) {
  for (const std::int64_t size : {17, 256}) expect_gradients_of_linear(size);
}

TEST(RepeatedLinear, AFrozenWeightPassesGradientsOn) {
  const Tensor x = randn({3, 4}).requires_grad(), w = randn({2, 4});
  sum(RepeatedLinear(w)(x)).backward();
  const Tensor dx = x.grad();
  Tensor again = x;
  again.set_grad({});
  sum(linear(x, w)).backward();
  EXPECT_LE(test::max_relative_error(dx, x.grad()), 1e-6);
}

TEST(RepeatedLinear, AMapWithoutUsesHasNoGradient) {
  Tensor w = randn({2, 4}).requires_grad();
  const RepeatedLinear unused(w);
  sum(RepeatedLinear(w)(randn({3, 4}))).backward();
  EXPECT_TRUE(w.grad().defined());
  w.set_grad({});
  const NoGrad no_grad;
  EXPECT_FALSE(RepeatedLinear(w)(randn({3, 4})).tracks_grad());
}

}  // namespace
}  // namespace heed::repeated_linear_test
