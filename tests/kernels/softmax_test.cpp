// Softmax kernels against their twins on every instruction set and around every vector length.
#include "heed/kernels/softmax.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels {
namespace {

using test::as_doubles;
using test::expect_close;
using test::guarded;
using test::random_floats;

template <typename Forward, typename Gradient>
void compare(const char* name, Forward forward, Gradient gradient) {
  constexpr std::int64_t kCount = 3;
  test::for_each_isa([&](Isa isa) {
    for (std::int64_t width = 1; width <= 70; ++width) {
      const Rows rows{kCount, width};
      const std::int64_t n = kCount * width;
      const std::vector<float> x = random_floats(n, 0, 5.0f), dy = random_floats(n, 1);
      std::vector<float> y = guarded(n), dx = guarded(n);
      forward(rows, x.data(), y.data());
      gradient(rows, y.data(), dy.data(), dx.data());

      const std::vector<double> x_twin = as_doubles(x), dy_twin = as_doubles(dy);
      std::vector<double> y_twin(x.size()), dx_twin(x.size());
      forward(rows, x_twin.data(), y_twin.data());
      gradient(rows, y_twin.data(), dy_twin.data(), dx_twin.data());

      const std::string what = fmt::format("{} {} width {}", name, name_of(isa), width);
      expect_close(y, y_twin, 1e-6, what);
      expect_close(dx, dx_twin, 1e-5, what + " gradient");
    }
  });
}

TEST(SoftmaxKernel, EqualsItsTwin) {
  compare(
      "softmax", [](auto... args) { softmax(args...); },
      [](auto... args) { softmax_backward(args...); });
  compare(
      "log_softmax", [](auto... args) { log_softmax(args...); },
      [](auto... args) { log_softmax_backward(args...); });
}

TEST(SoftmaxKernel, MayWriteOverItsInput) {
  const std::vector<float> x = random_floats(2 * 37, 0);
  std::vector<float> y(x.size()), in_place = x;
  softmax({2, 37}, x.data(), y.data());
  softmax({2, 37}, in_place.data(), in_place.data());
  EXPECT_EQ(in_place, y);
}

}  // namespace
}  // namespace heed::kernels
