// Convolutions against their plain twin, and the twin against hand and adjoints.
#include "heed/kernels/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels::conv_test {
namespace {

using test::as_doubles;
using test::expect_close;
using test::guarded;
using test::random_floats;

// batch, in, out, groups, rows, columns
const ConvShape kShapes[] = {
    {1, 2, 3, 1, {{}, {7, 3}}},
    {2, 4, 6, 2, {{}, {17, 3, 2, 4, 2}}},
    {2, 3, 5, 1, {{7, 3}, {9, 2}}},
    {3, 4, 4, 2, {{8, 3, 2, 1, 1}, {7, 2, 1, 2, 3}}},
    {2, 6, 7, 1, {{5, 1}, {13, 1}}},
    {2, 6, 7, 1, {{5, 1, 2}, {13, 1}}},
    // Few channels: images are dealt out, in several blocks of pixels.
    {1, 3, 8, 1, {{40, 5, 1, 2}, {41, 5, 1, 2}}},
    {9, 3, 4, 1, {{19, 3, 1, 1}, {21, 3, 1, 1}}},
    // Several blocks of channels.
    {1, 150, 9, 1, {{11, 3, 1, 1}, {29, 3, 1, 1}}},
    {1, 2, 3, 1, {{16, 1, 1, 0}, {16, 1, 1, 1}}},
    // Stride 1 without patches: several pictures, rows in bands, groups, one dimension, dilation,
    // more padding than outputs need, and a kernel of one row.
    {17, 5, 7, 1, {{9, 3, 1, 1}, {13, 3, 1, 1}}},
    {1, 4, 6, 1, {{20, 3, 1, 1}, {8, 3, 1, 1}}},
    {8, 6, 10, 2, {{6, 3, 1, 0, 2}, {17, 5, 1, 2}}},
    {16, 3, 5, 1, {{}, {40, 3, 1, 2}}},
    {33, 2, 1, 1, {{4, 2, 1, 1}, {32, 1, 1, 0}}},
    // Pointwise, with rows 2 KiB apart.
    {1, 70, 5, 1, {{16, 1}, {32, 1}}},
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

struct Sizes {
  explicit Sizes(const ConvShape& s)
      : x(s.batch * s.in_channels * s.window.inputs()),
        weight(s.out_channels * s.group_in() * s.window.taps()),
        y(s.batch * s.out_channels * s.window.outputs()) {}
  std::int64_t x, weight, y;
};

TEST(ConvKernel, AsTheTwinOnEveryInstructionSet) {
  test::for_each_isa([](Isa) {
    for (const ConvShape& s : kShapes) {
      const Sizes n(s);
      const auto x = random_floats(n.x, 1);
      const auto weight = random_floats(n.weight, 2);
      const auto bias = random_floats(s.out_channels, 3);
      const auto dy = random_floats(n.y, 4);
      std::vector<float> y = guarded(n.y), dx = guarded(n.x), dw = guarded(n.weight);
      std::vector<double> y2(dy.size()), dx2(x.size()), dw2(weight.size());
      conv(s, x.data(), weight.data(), bias.data(), y.data());
      conv(s, as_doubles(x).data(), as_doubles(weight).data(), as_doubles(bias).data(), y2.data());
      expect_close(y, y2, 1e-4, "y");
      conv(s, x.data(), weight.data(), nullptr, y.data());
      conv(s, as_doubles(x).data(), as_doubles(weight).data(), static_cast<const double*>(nullptr),
           y2.data());
      expect_close(y, y2, 1e-4, "y without bias");
      conv_backward_input(s, weight.data(), dy.data(), dx.data());
      conv_backward_input(s, as_doubles(weight).data(), as_doubles(dy).data(), dx2.data());
      expect_close(dx, dx2, 1e-4, "dx");
      conv_backward_weight(s, x.data(), dy.data(), dw.data());
      conv_backward_weight(s, as_doubles(x).data(), as_doubles(dy).data(), dw2.data());
      expect_close(dw, dw2, 1e-4, "dw");
    }
  });
}

// Convolution is linear in x and in the weight, so <conv(x, w), dy> = <x, dx> = <w, dw>.
TEST(ConvKernel, TheTwinsGradientsAreItsAdjoints) {
  for (const ConvShape& s : kShapes) {
    const Sizes n(s);
    const auto x = as_doubles(random_floats(n.x, 1));
    const auto weight = as_doubles(random_floats(n.weight, 2));
    const auto dy = as_doubles(random_floats(n.y, 4));
    std::vector<double> y(dy.size()), dx(x.size()), dw(weight.size());
    conv(s, x.data(), weight.data(), nullptr, y.data());
    conv_backward_input(s, weight.data(), dy.data(), dx.data());
    conv_backward_weight(s, x.data(), dy.data(), dw.data());
    EXPECT_NEAR(dot(y, dy), dot(x, dx), 1e-9 * static_cast<double>(n.y));
    EXPECT_NEAR(dot(y, dy), dot(weight, dw), 1e-9 * static_cast<double>(n.y));
  }
}

TEST(ConvKernel, ByHand) {
  // [1 2 3] and [1 10] with a zero on both sides.
  const ConvShape s{1, 1, 1, 1, {{}, {3, 2, 1, 1}}};
  const double x[] = {1, 2, 3};
  const double weight[] = {1, 10};
  const double bias[] = {0.5};
  double y[4];
  conv(s, x, weight, bias, y);
  EXPECT_EQ(std::vector(y, y + 4), (std::vector{10.5, 21.5, 32.5, 3.5}));
}

}  // namespace
}  // namespace heed::kernels::conv_test
