// The kernels of rows in several orders, with any number of threads. Values and gradients are
// compared in tests/ops/rounds_test.cpp.
#include "heed/kernels/rounds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "heed/base/threads.h"

namespace heed::kernels {
namespace {

TEST(RoundsKernels, HaveTheSameBitsWithAnyNumberOfThreads) {
  constexpr std::int64_t R = 3, N = 1001, D = 37;
  std::vector<std::int64_t> places;
  for (std::int64_t r = 0; r < R; ++r) {
    for (std::int64_t n = 0; n < N; ++n) places.push_back(r * N + (5 * n + r) % N);
  }
  std::vector<float> x, sums, dy;
  for (std::int64_t i = 0; i < R * N * D; ++i) x.push_back(static_cast<float>(i % 97) * 0.1f);
  for (std::int64_t i = 0; i < R * N; ++i) sums.push_back(static_cast<float>(i % 11) * 0.3f);
  for (std::int64_t i = 0; i < N * D; ++i) dy.push_back(static_cast<float>(i % 89) * 0.2f - 8.0f);
  const auto run = [&](int threads) {
    const int before = num_threads();
    set_num_threads(threads);
    std::vector<float> all(static_cast<std::size_t>(2 * N * D + R * N * (D + 1)), 1.0f);
    float* const y = all.data();
    add_rounds<float>({R, N, D}, x.data(), places.data(), y);
    join_rounds<float>({R, N, D}, x.data(), sums.data(), places.data(), y + N * D);
    join_rounds_backward<float>({R, N, D}, x.data(), sums.data(), places.data(), dy.data(),
                                y + 2 * N * D, y + 2 * N * D + R * N * D);
    set_num_threads(before);
    return all;
  };
  const std::vector<float> one = run(1);
  EXPECT_EQ(run(2), one);
  EXPECT_EQ(run(3), one);
}

}  // namespace
}  // namespace heed::kernels
