#include "heed/autograd/gradcheck.h"

#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

std::vector<Tensor> one_input() {
  Generator generator(1);
  return {normal({3, 2}, 0, 1, generator, DType::f64).requires_grad()};
}

TEST(GradCheck, AcceptsARightGradient) {
  const auto result = gradcheck([](auto in) { return exp(in[0]) * in[0]; }, one_input());
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_LT(result.worst, 1e-8);
}

TEST(GradCheck, CatchesAWrongOne) {
  const auto broken = [](std::span<const Tensor> in) {
    return record("broken", {in[0]}, square(in[0].detach()),
                  [x = in[0].detach()](Backward& b) { b.add(0, b.dy() * x); });  // forgets the 2
  };
  const auto result = gradcheck(broken, one_input());
  EXPECT_FALSE(result.ok);
  EXPECT_NE(result.message.find("input 0"), std::string::npos);
}

TEST(GradCheck, CatchesAMissingOne) {
  const auto cut = [](std::span<const Tensor> in) { return square(in[0].detach()); };
  EXPECT_FALSE(gradcheck(cut, one_input()).ok);
}

TEST(GradCheck, CatchesNan) {
  const auto bad = [](std::span<const Tensor> in) {
    return record("nan", {in[0]}, in[0].detach(),
                  [](Backward& b) { b.add(0, log(b.dy() * 0.0 - 1.0)); });
  };
  EXPECT_FALSE(gradcheck(bad, one_input()).ok);
}

TEST(GradCheck, ChecksOneElementInSoMany) {
  int calls = 0;
  const auto counted = [&](std::span<const Tensor> in) {
    ++calls;
    return square(in[0]);
  };
  EXPECT_TRUE(gradcheck(counted, one_input(), {.every = 4}).ok);
  EXPECT_EQ(calls, 1 + 2 * 2);  // of 6 elements the first and the fifth
}

TEST(GradCheck, WantsDoubles) {
  const std::vector<Tensor> single = {ones({2}).requires_grad()};
  EXPECT_NE(
      error_message([&] { gradcheck([](auto in) { return in[0] * 1.0; }, single); }).find("f64"),
      std::string::npos);
}

}  // namespace
}  // namespace heed
