// Differentiable views and layout changes: values, gradients, and what they share.
#include "heed/ops/view.h"

#include <gtest/gtest.h>

#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_op;
using test::Op;

void check(const char* name, const Shape& shape, const Op& op) {
  check_op({.name = name, .shapes = {shape}, .op = op});
}

TEST(Views, ValuesAndGradients) {
  check("reshape", {3, 4, 5}, [](auto in) { return reshape(in[0], {-1, 10}); });
  check("reshape scalar", {}, [](auto in) { return reshape(in[0], {1, 1}); });
  check("reshape of a transpose", {3, 4}, [](auto in) {
    return reshape(transpose(in[0]), {2, 6});
  });
  check("permute", {2, 3, 5, 7}, [](auto in) { return permute(in[0], {2, 0, -1, 1}); });
  check("transpose", {2, 3, 7}, [](auto in) { return transpose(in[0]); });
  check("transpose axes", {2, 3, 7}, [](auto in) { return transpose(in[0], 0, -1); });
  check("slice", {4, 17}, [](auto in) { return slice(in[0], 1, 2, -3, 4); });
  check("slice to nothing", {4, 7}, [](auto in) { return slice(in[0], 0, 3, 3); });
  check("select", {4, 7, 3}, [](auto in) { return select(in[0], -2, -1); });
  check("expand", {3, 1, 2}, [](auto in) { return expand(in[0], {4, 3, 5, 2}); });
  check("unsqueeze", {3, 2}, [](auto in) { return unsqueeze(in[0], -2); });
  check("squeeze", {3, 1, 2}, [](auto in) { return squeeze(in[0], -2); });
  check("contiguous", {3, 5}, [](auto in) { return contiguous(transpose(in[0])); });
  check("clone", {3, 5}, [](auto in) { return clone(in[0]); });
  check("large transpose", {300, 290}, [](auto in) { return contiguous(transpose(in[0])); });
}

TEST(Views, OfNothing) {
  check("reshape", {0, 4}, [](auto in) { return reshape(in[0], {2, -1}); });
  check("permute", {0, 4}, [](auto in) { return permute(in[0], {1, 0}); });
  check("expand", {0, 1}, [](auto in) { return expand(in[0], {3, 0, 2}); });
  check("slice and reshape", {4, 6},
        [](auto in) { return reshape(slice(slice(in[0], 1, 0, 6, 2), 0, 0, 0), {-1}); });
}

TEST(Views, OverlappingUsesAddTheirGradients) {
  check("slices", {9}, [](auto in) {
    return slice(in[0], 0, 0, 6) * slice(in[0], 0, 3, 9) + slice(in[0], 0, 0, 6);
  });
  check("x and its transpose", {5, 5}, [](auto in) { return in[0] * transpose(in[0]) + in[0]; });
  check("select twice", {3, 4},
        [](auto in) { return select(in[0], 0, 1) * select(in[0], 0, 1) * select(in[0], 0, 2); });
}

TEST(Views, ShareTheirStorageUnlessTheySayOtherwise) {
  const Tensor x = ones({4, 6});
  EXPECT_EQ(reshape(x, {24}).storage(), x.storage());
  EXPECT_EQ(permute(x, {1, 0}).storage(), x.storage());
  EXPECT_EQ(slice(x, 0, 1, 2).storage(), x.storage());
  EXPECT_EQ(expand(x, {2, 4, 6}).storage(), x.storage());
  EXPECT_EQ(contiguous(x).storage(), x.storage());
  EXPECT_EQ(cast(x, DType::f32).storage(), x.storage());
  EXPECT_FALSE(clone(x).storage() == x.storage());
  EXPECT_FALSE(reshape(transpose(x), {24}).storage() == x.storage());
  EXPECT_FALSE(contiguous(transpose(x)).storage() == x.storage());
}

TEST(Cast, GradientsFlowBetweenFloats) {
  Tensor x = from_values({1.5f, -2.0f}, {2}).requires_grad();
  const Tensor y = cast(x, DType::f64);
  EXPECT_EQ(y.dtype(), DType::f64);
  sum(y * y).backward();
  EXPECT_EQ(x.grad().dtype(), DType::f32);
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{3, -4}));
}

TEST(Cast, IntegersAreOffTheTape) {
  Tensor x = from_values({1.9f, -2.0f}, {2}).requires_grad();
  const Tensor ints = cast(x, DType::i64);
  EXPECT_FALSE(ints.tracks_grad());
  EXPECT_EQ(ints.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, -2}));
  EXPECT_FALSE(cast(ints, DType::f32).tracks_grad());
}

TEST(Views, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({2, 3});
  EXPECT_EQ(error_message([&] { reshape(x, {4}); }), "[reshape] 6 elements do not fill [4]");
  EXPECT_THROW(permute(x, {0, 0}), Error);
  EXPECT_THROW(transpose(ones({3})), Error);
  EXPECT_THROW(slice(x, 2, 0, 1), Error);
  EXPECT_THROW(select(x, 0, 2), Error);
  EXPECT_THROW(expand(x, {3, 3}), Error);
  EXPECT_THROW(squeeze(x, 0), Error);
  EXPECT_THROW(unsqueeze(x, 4), Error);
}

}  // namespace
}  // namespace heed
