#include "heed/attention/positions/axial.h"

#include <gtest/gtest.h>

#include "heed/autograd/gradcheck.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Axial, ACodeIsHalfRowHalfColumn) {
  Axial code({.max_length = 6, .rows = 2}, {.embed = 3});
  code.rows = from_values<float>({1, 2}, {2, 1});
  code.columns = from_values<float>({10, 11, 20, 21, 30, 31}, {3, 2});
  EXPECT_EQ(code.embed(zeros({1, 6, 3})).to_vector<float>(),
            (std::vector<float>{1, 10, 11, 1, 20, 21, 1, 30, 31,  //
                                2, 10, 11, 2, 20, 21, 2, 30, 31}));
  EXPECT_EQ(code.embed(zeros({1, 1, 3}), 4).to_vector<float>(), (std::vector<float>{2, 20, 21}));
}

TEST(Axial, TheGridIsNearlySquareUnlessRowsAreGiven) {
  const auto grid = [](std::int64_t max_length, std::int64_t rows) {
    const Axial code({.max_length = max_length, .rows = rows}, {.embed = 2});
    return std::pair(code.rows.size(0), code.columns.size(0));
  };
  EXPECT_EQ(grid(1024, 0), (std::pair<std::int64_t, std::int64_t>(32, 32)));
  EXPECT_EQ(grid(10, 0), (std::pair<std::int64_t, std::int64_t>(4, 3)));
  EXPECT_EQ(grid(10, 5), (std::pair<std::int64_t, std::int64_t>(5, 2)));
  EXPECT_EQ(grid(1, 0), (std::pair<std::int64_t, std::int64_t>(1, 1)));
}

TEST(Axial, Gradients) {
  Axial code({.max_length = 6}, {.embed = 5});
  code.to(DType::f64);
  const Tensor x = randn({2, 4, 5}, DType::f64);
  const GradCheckResult result = gradcheck(
      [&](std::span<const Tensor> tables) {
        code.rows = tables[0];
        code.columns = tables[1];
        return code.embed(x, 1);
      },
      code.parameters());
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(Axial, RowsMayHaveMoreFeaturesThanColumns) {
  const Axial code({.max_length = 6, .rows = 2, .row_features = 5}, {.embed = 6});
  EXPECT_EQ(code.rows.shape(), (Shape{2, 5}));
  EXPECT_EQ(code.columns.shape(), (Shape{3, 1}));
  EXPECT_EQ(error_message([] { Axial({.row_features = 6}, {.embed = 6}); }),
            "[axial] row_features 6: they must be fewer than embed 6");
}

TEST(Axial, OneFeatureCannotBeHalved) {
  EXPECT_EQ(error_message([] { Axial({}, {.embed = 1}); }),
            "[axial] embed is 1: it must be at least 2");
}

}  // namespace
}  // namespace heed
