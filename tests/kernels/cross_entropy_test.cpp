// Cross-entropy kernels against their twins on every instruction set and around every vector
// length.
#include "heed/kernels/cross_entropy.h"

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

void compare(Rows rows, double smoothing, const std::string& what) {
  const std::int64_t n = rows.count * rows.width;
  const std::vector<float> x = random_floats(n, 0, 4.0f), dloss = random_floats(rows.count, 1);
  std::vector<std::int64_t> targets;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    targets.push_back(r == 1 ? kIgnoredTarget : (r + 1) * 31 % rows.width);
  }
  std::vector<float> loss = guarded(rows.count), lse = guarded(rows.count), dx = guarded(n);
  cross_entropy(CrossEntropyForward<float>{rows, smoothing, x.data(), targets.data(), loss.data(),
                                           lse.data()});
  cross_entropy_backward(CrossEntropyBackward<float>{rows, smoothing, x.data(), targets.data(),
                                                     lse.data(), dloss.data(), dx.data()});

  const std::vector<double> x_twin = as_doubles(x), dloss_twin = as_doubles(dloss);
  std::vector<double> loss_twin(dloss.size()), lse_twin(dloss.size()), dx_twin(x.size());
  cross_entropy(CrossEntropyForward<double>{rows, smoothing, x_twin.data(), targets.data(),
                                            loss_twin.data(), lse_twin.data()});
  cross_entropy_backward(CrossEntropyBackward<double>{rows, smoothing, x_twin.data(),
                                                      targets.data(), lse_twin.data(),
                                                      dloss_twin.data(), dx_twin.data()});
  expect_close(loss, loss_twin, 2e-6, what + ": loss");
  expect_close(lse, lse_twin, 1e-6, what + ": log-sum-exp");
  expect_close(dx, dx_twin, 5e-6, what + ": gradient");
}

TEST(CrossEntropyKernel, EqualsItsTwin) {
  test::for_each_isa([](Isa isa) {
    for (const double smoothing : {0.0, 0.1}) {
      for (std::int64_t width = 1; width <= 70; ++width) {
        compare({4, width}, smoothing, fmt::format("{} width {}", name_of(isa), width));
      }
      for (const std::int64_t width : {2047, 2048, 2049, 6151}) {  // around and over a block
        compare({4, width}, smoothing, fmt::format("{} width {}", name_of(isa), width));
      }
    }
  });
}

}  // namespace
}  // namespace heed::kernels
