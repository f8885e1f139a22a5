#include "heed/autograd/checkpoint.h"

#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/ops/dropout.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

struct Net {
  Tensor w1, w2;
  Tensor operator()(const Tensor& x) const { return matmul(dropout(gelu(matmul(x, w1)), 0.3), w2); }
};

struct Gradients {
  Tensor value, x, w1, w2;
};

Gradients run(bool checkpointed) {
  default_generator() = Generator(11);
  Generator generator(3);
  Net net{normal({7, 33}, 0, 1, generator).requires_grad(),
          normal({33, 5}, 0, 1, generator).requires_grad()};
  Tensor x = normal({4, 7}, 0, 1, generator).requires_grad();
  const Tensor inputs[] = {x};
  const Tensor y =
      checkpointed ? checkpoint([net](std::span<const Tensor> in) { return net(in[0]); }, inputs)
                   : net(x);
  sum(square(y)).backward();
  return {y, x.grad(), net.w1.grad(), net.w2.grad()};
}

TEST(Checkpoint, GivesTheSameBitsAsTheWholeGraph) {
  const Gradients plain = run(false);
  const Gradients again = run(true);
  EXPECT_TRUE(test::same_bits(plain.value, again.value));
  EXPECT_TRUE(test::same_bits(plain.x, again.x));
  EXPECT_TRUE(test::same_bits(plain.w1, again.w1));
  EXPECT_TRUE(test::same_bits(plain.w2, again.w2));
}

TEST(Checkpoint, KeepsOnlyTheInputs) {
  Tensor x = ones({100, 100}).requires_grad();
  const Tensor inputs[] = {x};
  const auto deep = [](std::span<const Tensor> in) {
    Tensor y = in[0];
    for (int i = 0; i < 20; ++i) y = sin(y);
    return y;
  };
  const std::size_t before = arena::stats().bytes_live;
  const Tensor plain = deep(inputs);
  const std::size_t whole = arena::stats().bytes_live - before;
  const Tensor cheap = checkpoint(deep, inputs);
  const std::size_t kept = arena::stats().bytes_live - before - whole;
  EXPECT_LT(kept, whole / 8);
}

TEST(Checkpoint, WithoutTrackedInputsTheBodysParametersStillLearn) {
  Tensor w = ones({2}).requires_grad();
  const Tensor inputs[] = {ones({2})};
  sum(checkpoint([w](std::span<const Tensor> in) { return in[0] * w; }, inputs)).backward();
  EXPECT_EQ(w.grad().to_vector<float>(), (std::vector<float>{1, 1}));
}

}  // namespace
}  // namespace heed
