#include "heed/kernels/depthwise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/kernels/reference/conv.h"
#include "tests/support/isa_guard.h"
#include "tests/support/random_values.h"

namespace heed::kernels {
namespace {

using test::random_floats;
using test::widened;

void expect_near(const std::vector<float>& actual, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(actual[i]), expected[i], 1e-5) << i;
  }
}

void check(const ConvShape& s) {
  const auto x = random_floats(s.batch * s.in_channels * s.window.inputs(), 1);
  const auto weight = random_floats(s.out_channels * s.window.taps(), 2);
  const auto bias = random_floats(s.out_channels, 3);
  const auto dy = random_floats(s.batch * s.out_channels * s.window.outputs(), 4);
  std::vector<float> y(dy.size(), NAN), dx(x.size(), NAN), dw(weight.size(), NAN);
  std::vector<double> y2(y.size()), dx2(x.size()), dw2(weight.size());
  for (const bool with_bias : {true, false}) {
    const auto wide = widened(bias);
    depthwise(s, x.data(), weight.data(), with_bias ? bias.data() : nullptr, y.data());
    reference::conv(s, widened(x).data(), widened(weight).data(), with_bias ? wide.data() : nullptr,
                    y2.data());
    expect_near(y, y2);
  }
  depthwise_backward_input(s, weight.data(), dy.data(), dx.data());
  reference::conv_backward_input(s, widened(weight).data(), widened(dy).data(), dx2.data());
  expect_near(dx, dx2);
  depthwise_backward_weight(s, x.data(), dy.data(), dw.data());
  reference::conv_backward_weight(s, widened(x).data(), widened(dy).data(), dw2.data());
  expect_near(dw, dw2);
}

TEST(Depthwise, AsTheTwinOnEveryInstructionSetAndSize) {
  test::for_each_isa([](Isa) {
    for (const std::int64_t width : {1, 2, 7, 17, 63, 65}) {
      check({2, 3, 3, 3, {{}, {width, 3, 1, 2}}});
      check({2, 3, 6, 3, {{}, {width, 2, 2, 1}}});
      check({1, 2, 2, 2, {{5, 3, 2, 1}, {width, 3, 1, 2, 2}}});
    }
    check({0, 2, 2, 2, {{}, {5, 3}}});
  });
}

}  // namespace
}  // namespace heed::kernels
