#include "heed/autograd/tape.h"

#include <gtest/gtest.h>

#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Tape, GradientsOfADiamondAddUp) {
  Tensor x = from_values({3.0f}, {1}).requires_grad();
  const Tensor a = x * 2.0;
  const Tensor y = a * a + a;  // 4x^2 + 2x
  y.backward();
  EXPECT_FLOAT_EQ(static_cast<float>(x.grad().item()), 8 * 3 + 2);
}

TEST(Tape, BackwardTwiceAddsToTheLeaf) {
  Tensor x = ones({2}).requires_grad();
  sum(x * 3.0).backward();
  sum(x * 4.0).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{7, 7}));
  x.set_grad({});
  EXPECT_FALSE(x.grad().defined());
}

TEST(Tape, NothingIsRecordedWithoutNeed) {
  Tensor x = ones({2});
  EXPECT_FALSE((x * 2.0).tracks_grad());
  x.requires_grad();
  EXPECT_TRUE((x * 2.0).tracks_grad());
  const NoGrad off;
  EXPECT_FALSE((x * 2.0).tracks_grad());
  EXPECT_FALSE(grad_enabled());
}

TEST(Tape, DetachCutsTheGraph) {
  Tensor x = ones({2}).requires_grad();
  const Tensor y = sum(x.detach() * x);  // the detached factor counts as a constant
  y.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(Tape, LeavesNeverShareAGradient) {
  Tensor a = ones({3}).requires_grad();
  Tensor b = ones({3}).requires_grad();
  sum(a + b).backward();
  Tensor grad = a.grad();
  grad.mutable_data<float>()[0] = 100.0f;
  EXPECT_EQ(b.grad().to_vector<float>(), (std::vector<float>{1, 1, 1}));
}

TEST(Tape, UnusedOutputsAndInputsAreFine) {
  Tensor x = ones({2}).requires_grad();
  Tensor unused = ones({2}).requires_grad();
  Tensor first = x.detach(), second = x.detach();
  record_all("pair", {x, unused}, {&first, &second}, [](Backward& b) {
    EXPECT_TRUE(b.arrived(0));
    EXPECT_FALSE(b.arrived(1));
    EXPECT_EQ(b.dy(1).to_vector<float>(), (std::vector<float>{0, 0}));
    b.add(0, b.dy(0));
  });
  sum(first).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{1, 1}));
  EXPECT_FALSE(unused.grad().defined());
}

TEST(Tape, AMillionNodesAreTakenApartWithoutRecursion) {
  Tensor x = ones({1}).requires_grad();
  {
    Tensor y = x;
    for (int i = 0; i < 1'000'000; ++i) y = y + 0.0;
  }  // never walked
  Tensor y = x;
  for (int i = 0; i < 200'000; ++i) y = y + 0.0;
  y.backward();
  EXPECT_EQ(x.grad().item(), 1.0);
}

TEST(Tape, MemoryIsFreeAfterTheWalk) {
  Tensor x = ones({1000}).requires_grad();
  sum(x * x).backward();
  x.set_grad({});
  const std::size_t before = arena::stats().bytes_live;
  for (int i = 0; i < 3; ++i) {
    sum(exp(x * x)).backward();
    x.set_grad({});
  }
  EXPECT_EQ(arena::stats().bytes_live, before);
}

TEST(Tape, WrongUseIsExplained) {
  Tensor x = ones({2}).requires_grad();
  const Tensor y = x * 2.0;
  EXPECT_NE(error_message([&] { y.backward(); }).find("[backward] a tensor of shape [2]"),
            std::string::npos);
  EXPECT_NE(error_message([&] { ones({1}).backward(); }).find("not computed from anything"),
            std::string::npos);
  const Tensor total = sum(y);
  total.backward();
  EXPECT_NE(error_message([&] { total.backward(); }).find("walked already"), std::string::npos);
  EXPECT_NE(error_message([&] { sum(y * 3.0).backward(); }).find("walked already"),
            std::string::npos);
  EXPECT_NE(error_message([&] { (void)y.grad(); }).find("only leaves"), std::string::npos);
  Tensor computed = x * 1.0;
  EXPECT_NE(error_message([&] { computed.requires_grad(false); }).find("'affine'"),
            std::string::npos);
  EXPECT_NE(error_message([] { ones({1}, DType::i64).requires_grad(); }).find("gradients are f32"),
            std::string::npos);
  EXPECT_NE(error_message([&] { backward(y, ones({3})); }).find("they must agree"),
            std::string::npos);
}

TEST(Tape, AnErrorInBackwardLeavesTheTapeUsable) {
  Tensor x = ones({2}).requires_grad();
  Tensor y = x.detach();
  y = record("bad", {x}, y, [](Backward&) { fail("[bad] on purpose"); });
  EXPECT_EQ(error_message([&] { sum(y * 2.0).backward(); }), "[bad] on purpose");
  EXPECT_TRUE(grad_enabled());
  x.set_grad({});
  sum(x * 2.0).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2, 2}));
}

}  // namespace
}  // namespace heed
