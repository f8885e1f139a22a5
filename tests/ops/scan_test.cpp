// Cumulative sums: values, gradients, messages, and what PyTorch computed.
#include "heed/ops/scan.h"

#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/golden.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_golden;
using test::check_op;
using test::Golden;
using test::Named;

TEST(Cumsum, EveryAxisAndOddSizes) {
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{3, 17, 5}, Shape{63, 2}, Shape{2, 65},
                             Shape{0, 4}, Shape{4, 0}, Shape{2, 3, 1, 5}}) {
    for (int axis = -1; axis < shape.rank(); ++axis) {
      check_op({.name = "cumsum", .shapes = {shape}, .op = [axis](auto in) {
                  return cumsum(in[0], axis);
                }});
    }
  }
}

TEST(Cumsum, LongLinesStayAccurate) {
  for (const int axis : {0, 1}) {
    check_op({.name = "cumsum",
              .shapes = {axis == 0 ? Shape{5000, 67} : Shape{67, 5000}},
              .op = [axis](auto in) { return cumsum(in[0], axis); },
              .tolerance = 1e-6,
              .gradient_tolerance = 1e-6});
  }
}

TEST(Cumsum, CountsIntegers) {
  EXPECT_EQ(cumsum(from_values<std::int64_t>({1, 0, 1, 1}, {4}), 0).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{1, 1, 2, 3}));
  EXPECT_EQ(cumsum(from_values<std::int32_t>({1, 2, 3, 4}, {2, 2}), 0).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{1, 2, 4, 6}));
}

TEST(Cumsum, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { cumsum(ones({2}, DType::boolean), 0); }),
            "[cumsum] dtype boolean: use cast(x, DType::i64) or DType::f32");
  EXPECT_EQ(error_message([] { cumsum(ones({2}), 1); }),
            "[cumsum] axis 1 is outside a tensor of 1 dimensions: use -1 to 0");
  EXPECT_THROW(cumsum(scalar(1.0), 0), Error);
}

TEST(Cumsum, AsInPyTorch) {
  for (const std::string name : {"cumsum", "cumsum_dim1"}) {
    check_golden(name, [](const Golden& g) -> Named {
      return {{"y", cumsum(g["x"], static_cast<int>(g.number("dim")))}};
    });
  }
}

}  // namespace
}  // namespace heed
