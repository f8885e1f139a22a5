#include "heed/attention/positions/circular.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/attention.h"
#include "heed/attention/positions/shaw.h"
#include "heed/attention/variants/multi_head.h"
#include "heed/ops/index.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::circular_test {
namespace {

// A ring has no first position: if the input moves around it, so does the result.
TEST(CircularRelative, ARotationOfTheInputRotatesTheResult) {
  Generator generator(3);
  const MultiHeadAttention layer(
      {.embed = 8, .heads = 2, .position = {.name = "circular", .period = 6}}, generator);
  const MultiHeadAttention line({.embed = 8, .heads = 2, .position = {.name = "shaw", .clip = 6}},
                                generator);
  const Tensor x = randn({1, 6, 8});
  const Tensor ids = from_values<std::int64_t>({4, 5, 0, 1, 2, 3}, {6});
  const Tensor turned = index_select(x, 1, ids);
  EXPECT_LE(test::max_relative_error(layer({.x = turned}), index_select(layer({.x = x}), 1, ids)),
            1e-5);
  EXPECT_GE(test::max_relative_error(line({.x = turned}), index_select(line({.x = x}), 1, ids)),
            1e-3);
}

// The last position is next to the first: their vectors are those of distance -1 and 1.
TEST(CircularRelative, DistancesCountAroundTheRing) {
  Generator generator(4);
  const CircularRelative code({.period = 5}, {.head = 3}, generator);
  ShawRelative line({.clip = 4}, {.head = 3}, generator);
  for (std::int64_t row = 0; row < 9; ++row) {  // distance row - 4
    for (std::int64_t d = 0; d < 3; ++d) {
      const std::int64_t at = (row - 4 + 5) % 5 * 3 + d;
      line.keys.mutable_data<float>()[row * 3 + d] = code.keys.data<float>()[at];
      line.values.mutable_data<float>()[row * 3 + d] = code.values.data<float>()[at];
    }
  }
  const Tensor x = randn({2, 1, 5, 3});
  AttentionSpec ring, clipped;
  code.modify(ring, Corner::top_left);
  line.modify(clipped, Corner::top_left);
  EXPECT_TRUE(test::same_bits(attention(x, x, x, ring), attention(x, x, x, clipped)));
}

TEST(CircularRelative, SequencesMayBeLongerThanTheRing) {
  Generator generator(5);
  const CircularRelative code({.period = 3}, {.head = 4}, generator);
  const Tensor q = zeros({1, 1, 10, 4}), k = zeros({1, 1, 10, 4});
  AttentionSpec spec;
  code.modify(spec, Corner::top_left);
  const Tensor y = attention(q, k, zeros({1, 1, 10, 4}), spec);  // means of the values' vectors
  for (const float value : y.to_vector<float>()) EXPECT_TRUE(std::isfinite(value));
  EXPECT_LE(test::max_relative_error(view::slice(y, 2, 0, 1), view::slice(y, 2, 3, 4)), 1e-6);
}

TEST(CircularRelative, ParametersAndBadSizes) {
  const CircularRelative code({.period = 7}, {.head = 8});
  const auto parameters = code.named_parameters();
  ASSERT_EQ(parameters.size(), 2u);
  EXPECT_EQ(parameters[0].name, "keys");
  EXPECT_EQ(parameters[0].tensor.shape(), (Shape{7, 8}));
  EXPECT_EQ(error_message([] { CircularRelative({.period = 0}, {.head = 8}); }),
            "[circular] period is 0: it must be at least 1");
}

}  // namespace
}  // namespace heed::circular_test
