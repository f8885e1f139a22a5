// Depthwise convolutions against the general twin.
#include "heed/kernels/depthwise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/kernels/reference/conv.h"
#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels {
namespace {

using test::as_doubles;
using test::expect_close;
using test::guarded;
using test::random_floats;

void check(const ConvShape& s) {
  const std::int64_t inputs = s.batch * s.in_channels * s.window.inputs();
  const std::int64_t outputs = s.batch * s.out_channels * s.window.outputs();
  const std::int64_t weights = s.out_channels * s.window.taps();
  const auto x = random_floats(inputs, 1);
  const auto weight = random_floats(weights, 2);
  const auto bias = random_floats(s.out_channels, 3);
  const auto dy = random_floats(outputs, 4);
  std::vector<float> y = guarded(outputs), dx = guarded(inputs), dw = guarded(weights);
  std::vector<double> y2(dy.size()), dx2(x.size()), dw2(weight.size());
  for (const bool with_bias : {true, false}) {
    const auto wide = as_doubles(bias);
    depthwise(s, x.data(), weight.data(), with_bias ? bias.data() : nullptr, y.data());
    reference::conv(s, as_doubles(x).data(), as_doubles(weight).data(),
                    with_bias ? wide.data() : nullptr, y2.data());
    expect_close(y, y2, 1e-5, "y");
  }
  depthwise_backward_input(s, weight.data(), dy.data(), dx.data());
  reference::conv_backward_input(s, as_doubles(weight).data(), as_doubles(dy).data(), dx2.data());
  expect_close(dx, dx2, 1e-5, "dx");
  depthwise_backward_weight(s, x.data(), dy.data(), dw.data());
  reference::conv_backward_weight(s, as_doubles(x).data(), as_doubles(dy).data(), dw2.data());
  expect_close(dw, dw2, 1e-5, "dw");
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
