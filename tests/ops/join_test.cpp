// Concat, stack and split: values, gradients and messages.
#include "heed/ops/join.h"

#include <gtest/gtest.h>

#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_op;

TEST(Concat, EveryAxisAndOddSizes) {
  for (const int axis : {0, 1, 2, -1}) {
    std::vector<Shape> shapes;
    for (const std::int64_t n : {1, 7, 0, 17}) {
      Shape shape{2, 3, 4};
      shape[axis < 0 ? 2 : axis] = n;
      shapes.push_back(shape);
    }
    check_op(
        {.name = "concat", .shapes = shapes, .op = [axis](auto in) { return concat(in, axis); }});
  }
  check_op({.name = "one", .shapes = {{5}}, .op = [](auto in) { return concat(in, 0); }});
  check_op({.name = "large", .shapes = {{65, 700}, {65, 900}}, .op = [](auto in) {
              return concat({in[0], in[1]}, 1);
            }});
}

TEST(Concat, ATensorMayAppearTwiceAndInputsMayNeedNoGradient) {
  check_op({.name = "twice", .shapes = {{2, 3}}, .op = [](auto in) {
              return concat({in[0], zeros({2, 1}, in[0].dtype()), in[0] * 2.0, in[0]}, 1);
            }});
}

TEST(Concat, TakesAnyElementType) {
  const Tensor a = from_values<std::int64_t>({1, 2}, {2});
  const Tensor b = from_values<std::int64_t>({3}, {1});
  EXPECT_EQ(concat({a, b}, 0).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(Stack, EveryAxis) {
  for (const int axis : {0, 1, 2, -1, -3}) {
    check_op({.name = "stack", .shapes = {{3, 7}, {3, 7}, {3, 7}}, .op = [axis](auto in) {
                return stack(in, axis);
              }});
  }
  check_op({.name = "scalars", .shapes = {{}, {}}, .op = [](auto in) { return stack(in, 0); }});
  check_op({.name = "empty", .shapes = {{0, 2}, {0, 2}}, .op = [](auto in) {
              return stack({in[0], in[1]}, 1);
            }});
  EXPECT_EQ(stack({ones({2}), zeros({2})}, 1).to_vector<float>(), (std::vector<float>{1, 0, 1, 0}));
}

TEST(Split, EqualPartsAreViewsThatSendTheirGradientsBack) {
  for (const int axis : {0, 1, -1}) {
    check_op({.name = "split<3>", .shapes = {{6, 3, 9}}, .op = [axis](auto in) {
                const auto [q, k, v] = split<3>(in[0], axis);
                return q * k + v;
              }});
  }
  const Tensor x = arange(6, DType::i64);
  const auto [a, b] = split<2>(x, 0);
  EXPECT_EQ(b.storage(), x.storage());
  EXPECT_EQ(b.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 4, 5}));
}

TEST(Split, SizesAndCountsAtRunTime) {
  check_op({.name = "sizes", .shapes = {{4, 9}}, .op = [](auto in) {
              const std::vector<Tensor> parts = split(in[0], {2, 0, 7}, 1);
              return concat({parts[2] * 3.0, parts[1], parts[0] * parts[0]}, 1);
            }});
  check_op({.name = "parts", .shapes = {{6, 5}}, .op = [](auto in) {
              const std::vector<Tensor> parts = split(in[0], 3, 0);
              const Tensor later = in[0] * 0.5;  // its gradient comes before that of the parts
              return sum(later, {0}) + sum(parts[0] * parts[2], {0});
            }});
  EXPECT_EQ(split(zeros({3, 0}), 4, 1).size(), 4u);
}

TEST(Join, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              concat({ones({2, 3}), ones({2, 4})}, 0);
            }),
            "[concat] shapes [2, 3] and [2, 4] differ: all sizes but that of axis 0 must agree");
  EXPECT_EQ(error_message([] {
              concat({ones({2}), ones({2}, DType::f64)}, 0);
            }),
            "[concat] f32 and f64 do not mix: cast one of them");
  EXPECT_EQ(error_message([] { concat(std::span<const Tensor>(), 0); }),
            "[concat] no tensors: give at least one");
  EXPECT_EQ(error_message([] {
              stack({ones({2}), ones({3})}, 0);
            }),
            "[stack] shapes [2] and [3] differ: all sizes must agree");
  EXPECT_THROW(stack(std::span<const Tensor>(), 0), Error);
  EXPECT_THROW(concat({scalar(1.0)}, 0), Error);
  EXPECT_THROW(concat({ones({2}), ones({2, 1})}, 0), Error);
  EXPECT_EQ(error_message([] { split<3>(ones({4}), 0); }),
            "[split] axis 0 of [4] does not divide into 3 equal parts");
  EXPECT_EQ(error_message([] {
              split(ones({4}), {1, 2}, 0);
            }),
            "[split] the sizes add up to 3, axis 0 of [4] has 4");
  EXPECT_EQ(error_message([] {
              split(ones({4}), {3, 2}, 0);
            }),
            "[split] part 1 of size 2 from axis 0 of [4], of which 1 are left");
  EXPECT_THROW(split(ones({4}), {5, -1}, 0), Error);
  EXPECT_THROW(split(ones({4}), 0, 0), Error);
}

}  // namespace
}  // namespace heed
