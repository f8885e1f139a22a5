// The dropout kernel against its twin: the same words of Philox, whatever the instruction set and
// place.
#include "heed/kernels/dropout.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/isa_guard.h"
#include "tests/support/values.h"

namespace heed::kernels {
namespace {

using test::as_doubles;
using test::expect_close;
using test::guarded;
using test::random_floats;

void compare(const DropoutMask& mask, std::int64_t n, const std::string& what) {
  const std::vector<float> x = random_floats(n, 0), residual = random_floats(n, 1);
  std::vector<float> y = guarded(n), sum = guarded(n);
  dropout(mask, DropoutCall<float>{n, x.data(), nullptr, y.data()});
  dropout(mask, DropoutCall<float>{n, x.data(), residual.data(), sum.data()});
  const std::vector<double> x_twin = as_doubles(x), residual_twin = as_doubles(residual);
  std::vector<double> y_twin(x.size()), sum_twin(x.size());
  dropout(mask, DropoutCall<double>{n, x_twin.data(), nullptr, y_twin.data()});
  dropout(mask, DropoutCall<double>{n, x_twin.data(), residual_twin.data(), sum_twin.data()});
  expect_close(y, y_twin, 2e-7, what);
  expect_close(sum, sum_twin, 2e-7, what + " with residual");
}

TEST(DropoutKernel, EqualsItsTwin) {
  // Seeds and streams that use all 64 bits.
  const DropoutMask mask = dropout_mask({0x0123456789abcdef, 0xfedcba9876543210}, 0.3);
  test::for_each_isa([&](Isa isa) {
    for (std::int64_t n = 1; n <= 70; ++n) {
      compare(mask, n, fmt::format("{} {} elements", name_of(isa), n));
    }
    // Over several runs of words and several cells.
    for (const std::int64_t n : {511, 512, 513, 40001}) {
      compare(mask, n, fmt::format("{} {} elements", name_of(isa), n));
    }
  });
}

TEST(DropoutKernel, TheMaskIsTheProbability) {
  EXPECT_EQ(dropout_mask({}, 0.0).threshold, 0u);
  EXPECT_EQ(dropout_mask({}, 0.5).threshold, 0x80000000u);
  EXPECT_EQ(dropout_mask({}, 0.5).scale, 2.0);
  // The nearest below 1 still keeps a word.
  EXPECT_EQ(dropout_mask({}, std::nextafter(1.0, 0.0)).threshold, 0xffffffffu);
}

TEST(DropoutKernel, MayWriteOverItsInput) {
  const DropoutMask mask = dropout_mask({1, 2}, 0.5);
  const std::vector<float> x = random_floats(1000, 0);
  std::vector<float> y(1000), in_place = x;
  dropout(mask, DropoutCall<float>{1000, x.data(), nullptr, y.data()});
  dropout(mask, DropoutCall<float>{1000, in_place.data(), nullptr, in_place.data()});
  EXPECT_EQ(in_place, y);
}

}  // namespace
}  // namespace heed::kernels
