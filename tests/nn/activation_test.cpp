// Activations by name.
#include "heed/nn/activation.h"

#include <gtest/gtest.h>

#include "heed/ops/elementwise.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TEST(Activation, NamesAreThoseOfTheFunctions) {
  const Tensor x = randn({17});
  EXPECT_TRUE(test::same_bits(activate(Activation::none, x), x));
  EXPECT_TRUE(test::same_bits(activate(Activation::relu, x), relu(x)));
  EXPECT_TRUE(test::same_bits(activate(Activation::elu, x), elu(x)));
  EXPECT_TRUE(test::same_bits(activate(Activation::gelu, x), gelu(x)));
  EXPECT_TRUE(test::same_bits(activate(Activation::gelu_tanh, x), gelu_tanh(x)));
  EXPECT_TRUE(test::same_bits(activate(Activation::silu, x), silu(x)));
  EXPECT_TRUE(test::same_bits(activate(Activation::tanh, x), tanh(x)));
  EXPECT_TRUE(test::same_bits(activate(Activation::sigmoid, x), sigmoid(x)));
  EXPECT_TRUE(test::same_bits(activate(Activation::softplus, x), softplus(x)));
}

}  // namespace
}  // namespace heed
