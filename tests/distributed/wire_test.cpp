// What remains of values that travel as bf16.
#include "heed/distributed/wire.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TEST(Wire, RoundsToBf16OnceAndForAll) {
  const Tensor values = from_values({1.0f, 1.00390625f, 1.01171875f, -3.14159265f, 0.0f,
                                     std::numeric_limits<float>::infinity(), 1e-30f},
                                    {7});
  const Tensor sent = as_sent(values, Wire::bf16);
  EXPECT_EQ(sent.dtype(), DType::f32);
  const float expected[] = {1.0f,       1.0f, 1.015625f,
                            -3.140625f, 0.0f, std::numeric_limits<float>::infinity()};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(sent.data<float>()[i], expected[i]) << i;
  EXPECT_NEAR(sent.data<float>()[6] / 1e-30f, 1.0f, 1.0f / 256.0f);
  EXPECT_TRUE(test::same_bits(as_sent(sent, Wire::bf16), sent));
  EXPECT_TRUE(test::same_bits(as_sent(values, Wire::f32), values));
}

}  // namespace
}  // namespace heed
