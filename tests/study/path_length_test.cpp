#include "heed/study/path_length.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed {
namespace {

PathLength path(const std::string& name, const std::vector<std::string>& options, std::int64_t n) {
  Generator generator(2);
  return count_path([&](std::int64_t) { return make_sequence_layer(name, options, generator); }, n,
                    2);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

TEST(PathLength, RecurrenceTakesEveryStep) {
  for (const char* const name : {"gru", "lstm"}) {
    for (const std::int64_t n : {2, 3, 17, 64}) {
      const PathLength counted = path(name, {"embed=2"}, n);
      EXPECT_EQ(counted.layers, 1);
      EXPECT_EQ(counted.path, n);
      EXPECT_EQ(counted.sequential, n);
    }
  }
}

TEST(PathLength, SelfAttentionTakesOne) {
  for (const std::int64_t n : {2, 17, 64}) {
    const PathLength counted = path("multi_head", {"embed=2", "heads=1"}, n);
    EXPECT_EQ(counted.layers, 1);
    EXPECT_EQ(counted.path, 1);
    EXPECT_EQ(counted.sequential, 1);
  }
}

TEST(PathLength, ConvolutionTakesALayerForEachReach) {
  for (const std::int64_t kernel : {2, 3, 5}) {
    for (const std::int64_t n : {2, 3, 16, 17, 40}) {
      const PathLength counted = path("conv1d", {"embed=2", fmt::format("kernel={}", kernel)}, n);
      EXPECT_EQ(counted.layers, ceil_div(n - 1, kernel - 1)) << kernel << ", " << n;
      EXPECT_EQ(counted.path, counted.layers);
      EXPECT_EQ(counted.sequential, 1);
    }
  }
}

TEST(PathLength, DilationMakesItALogarithm) {
  for (const std::int64_t kernel : {2, 3}) {
    for (const std::int64_t n : {2, 8, 9, 27, 28, 64}) {
      Generator generator(2);
      const PathLength counted = count_path(
          [&](std::int64_t depth) {
            std::int64_t dilation = 1;
            while (depth-- > 0) dilation *= kernel;
            return make_sequence_layer(
                "conv1d",
                {"embed=2", fmt::format("kernel={}", kernel), fmt::format("dilation={}", dilation)},
                generator);
          },
          n, 2);
      std::int64_t logarithm = 0;
      for (std::int64_t reached = 1; reached < n; reached *= kernel) ++logarithm;
      EXPECT_EQ(counted.path, logarithm) << kernel << ", " << n;
    }
  }
}

TEST(PathLength, RestrictedAttentionTakesALayerForEachNeighbourhood) {
  for (const std::int64_t r : {1, 3, 8}) {
    for (const std::int64_t n : {2, 9, 10, 33}) {
      const PathLength counted =
          path("restricted",
               {"embed=2", "heads=1", fmt::format("left={}", r), fmt::format("right={}", r)}, n);
      EXPECT_EQ(counted.path, ceil_div(n - 1, r)) << r << ", " << n;
      EXPECT_EQ(counted.sequential, 1);
    }
  }
}

TEST(PathLength, WhatNeverConnectsIsSaid) {
  EXPECT_THAT(error_message([] {
                path("conv1d", {"embed=2", "kernel=1"}, 5);
              }),
              testing::HasSubstr("do not connect 5 positions"));
  EXPECT_THAT(error_message([] { path("gru", {"embed=2"}, 1); }),
              testing::HasSubstr("1 positions: a path needs two"));
}

}  // namespace
}  // namespace heed
