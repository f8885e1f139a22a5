#include "heed/attention/positions/learned.h"

#include <gtest/gtest.h>

#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Learned, AddsTheRowsOfItsTable) {
  Learned code({.max_length = 3}, {.embed = 2});
  code.weight = from_values<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor x = from_values<float>({10, 20, 30, 40}, {1, 2, 2});
  EXPECT_EQ(code.embed(x).to_vector<float>(), (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(code.embed(x, 1).to_vector<float>(), (std::vector<float>{13, 24, 35, 46}));
}

TEST(Learned, OnlyUsedPositionsLearn) {
  const Learned code({.max_length = 4}, {.embed = 1});
  sum(code.embed(zeros({3, 2, 1}), 1)).backward();
  EXPECT_EQ(code.weight.grad().to_vector<float>(), (std::vector<float>{0, 3, 3, 0}));
}

TEST(Learned, AnOffsetLeavesTheFirstRowsToOthers) {
  Learned code({.max_length = 4, .offset = 2}, {.embed = 1});
  code.weight = from_values<float>({1, 2, 3, 4}, {4, 1}).requires_grad();
  EXPECT_EQ(code.length(), 2) << "max_length counts all rows";
  const Tensor x = from_values<float>({10, 20}, {1, 2, 1});
  const Tensor y = code.embed(x);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{13, 24}));
  sum(y).backward();
  EXPECT_EQ(code.weight.grad().to_vector<float>(), (std::vector<float>{0, 0, 1, 1}));
  EXPECT_EQ(error_message([&] { code.embed(x, 1); }),
            "[learned] positions 1 to 2: only 0 to 1 exist, raise max_length");
  EXPECT_EQ(error_message([] { Learned({.max_length = 4, .offset = 4}, {.embed = 1}); }),
            "[learned] offset 4 leaves no position of max_length 4: max_length counts the rows "
            "before the first position too");
}

TEST(Learned, TheTableIsItsParameter) {
  const Learned code({.max_length = 9}, {.embed = 4});
  ASSERT_EQ(code.named_parameters().size(), 1u);
  EXPECT_EQ(code.named_parameters()[0].name, "weight");
  EXPECT_EQ(code.named_parameters()[0].tensor.shape(), (Shape{9, 4}));
}

}  // namespace
}  // namespace heed
