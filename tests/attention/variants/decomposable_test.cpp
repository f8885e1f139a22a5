#include "heed/attention/variants/decomposable.h"

#include <gtest/gtest.h>

#include "heed/nn/linear.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/order.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::decomposable_test {
namespace {

DecomposableAttention make() {
  Generator generator(7);
  return DecomposableAttention({.embed = 6, .hidden = 5}, generator);
}

TEST(Decomposable, AttendsAndCompares) {
  const DecomposableAttention layer = make();
  const Tensor a = randn({2, 3, 6}), b = randn({2, 4, 6});
  const auto f = [&](const Tensor& x) { return layer.attend_out(layer.attend_in(x)); };
  const Tensor read = matmul(softmax(matmul(f(a), transpose(f(b)))), b);  // [B, Ta, E]
  const Tensor v = layer.compare_out(layer.compare_in(concat({a, read}, -1)));
  EXPECT_LE(test::max_relative_error(layer({.x = a, .memory = b}), v), 1e-5);
}

TEST(Decomposable, AggregatesBothTexts) {
  const DecomposableAttention layer = make();
  const Tensor a = randn({2, 3, 6}), b = randn({2, 4, 6});
  const Tensor both = layer.compare_texts({a}, {b});
  const Tensor right =
      concat({sum(layer({.x = a, .memory = b}), {1}), sum(layer({.x = b, .memory = a}), {1})},
             -1);  // [B, 2 E]
  EXPECT_LE(test::max_relative_error(both, right), 1e-6);
  // Order within a text does not matter, padding neither.
  const Tensor turned = concat({slice(a, 1, 2, 3), slice(a, 1, 0, 2)}, 1);
  EXPECT_LE(test::max_relative_error(layer.compare_texts({turned}, {b}), both), 1e-5);
  const Tensor padded = concat({a, randn({2, 2, 6})}, 1);
  const Tensor lengths = from_values<std::int64_t>({3, 3}, {2});
  EXPECT_LE(test::max_relative_error(layer.compare_texts({padded, lengths}, {b}), both), 1e-5);
}

TEST(Decomposable, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { DecomposableAttention({.embed = 4, .dropout = 1.0}); }),
            "[decomposable] dropout 1: it must be at least 0 and below 1");
}

}  // namespace
}  // namespace heed::decomposable_test
