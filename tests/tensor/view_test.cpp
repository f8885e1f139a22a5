// Views without gradient, against element-by-element definitions.
#include "heed/tensor/view.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed::view_test {
namespace {

using Values = std::vector<std::int64_t>;

Tensor counted(const Shape& shape) { return view::reshape(arange(numel(shape)), shape); }
Values values_of(const Tensor& x) { return x.to_vector<std::int64_t>(); }

TEST(Slice, AsInPython) {
  const Tensor x = arange(7);
  EXPECT_EQ(values_of(view::slice(x, 0, 2, 5)), (Values{2, 3, 4}));
  EXPECT_EQ(values_of(view::slice(x, 0, 0, 7, 3)), (Values{0, 3, 6}));
  EXPECT_EQ(values_of(view::slice(x, 0, 1, 7, 3)), (Values{1, 4}));
  EXPECT_EQ(values_of(view::slice(x, 0, -3, 7)), (Values{4, 5, 6}));
  EXPECT_EQ(values_of(view::slice(x, 0, 0, -5)), (Values{0, 1}));
  EXPECT_EQ(values_of(view::slice(x, 0, -100, 100)), values_of(x));
  EXPECT_EQ(values_of(view::slice(x, 0, 5, 2)), Values{});
  EXPECT_EQ(values_of(view::slice(x, 0, 7, 9)), Values{});
  EXPECT_EQ(values_of(view::slice(view::slice(x, 0, 1, 7, 2), 0, 1, 3)), (Values{3, 5}));
  EXPECT_EQ(values_of(view::slice(counted({3, 4}), 1, 1, 3)), (Values{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(values_of(view::slice(counted({3, 4}), -2, 2, 3)), (Values{8, 9, 10, 11}));
}

TEST(Slice, HugeStepsAndEndsDoNotOverflow) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const Tensor x = arange(7);
  EXPECT_EQ(values_of(view::slice(x, 0, kLeast, kMost, kMost)), (Values{0}));
  EXPECT_EQ(values_of(view::slice(x, 0, 3, kMost, kMost - 1)), (Values{3}));
  EXPECT_EQ(values_of(view::slice(zeros({0}, DType::i64), 0, 0, kMost, kMost)), Values{});
}

TEST(Slice, WrongUse) {
  EXPECT_EQ(error_message([] { view::slice(arange(3), 0, 0, 3, 0); }),
            "[slice] step 0: it must be at least 1");
  EXPECT_THROW(view::slice(arange(3), 0, 0, 3, -1), Error);
  EXPECT_THROW(view::slice(arange(3), 1, 0, 3), Error);
  EXPECT_THROW(view::slice(scalar(1.0), 0, 0, 1), Error);
}

TEST(Select, OneIndex) {
  const Tensor x = counted({2, 3, 2});
  EXPECT_EQ(values_of(view::select(x, 1, 2)), (Values{4, 5, 10, 11}));
  EXPECT_EQ(values_of(view::select(x, -1, -1)), (Values{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(view::select(x, 0, 1).shape(), (Shape{3, 2}));
  EXPECT_EQ(view::select(arange(3), 0, 2).rank(), 0);
  EXPECT_EQ(error_message([&] { view::select(x, 1, 3); }),
            "[select] index 3 is outside axis 1 of size 3");
  EXPECT_THROW(view::select(x, 1, -4), Error);
  EXPECT_THROW(view::select(zeros({0}), 0, 0), Error);
}

TEST(Permute, EveryOrder) {
  const Tensor x = counted({2, 3, 4});
  const Tensor y = view::permute(x, {2, 0, -2});
  EXPECT_EQ(y.shape(), (Shape{4, 2, 3}));
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 3; ++k) {
        const auto at = static_cast<std::size_t>((i * 2 + j) * 3 + k);
        EXPECT_EQ(values_of(y)[at], (j * 3 + k) * 4 + i);
      }
    }
  }
  EXPECT_EQ(view::permute(scalar(1.0), {}).rank(), 0);
  EXPECT_EQ(error_message([&] {
              view::permute(x, {0, 1, 1});
            }),
            "[permute] order [0, 1, 1] names axis 1 twice");
  EXPECT_EQ(error_message([&] {
              view::permute(x, {0, 1});
            }),
            "[permute] order [0, 1] for a tensor of shape [2, 3, 4]: name each axis once");
  EXPECT_THROW(view::permute(x, {0, 1, 3}), Error);
}

TEST(Transpose, TwoAxes) {
  EXPECT_EQ(values_of(view::transpose(counted({2, 3}), 0, 1)), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(view::transpose(counted({2, 3, 4}), -1, 0).shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(values_of(view::transpose(counted({2, 3}), 1, 1)), values_of(counted({2, 3})));
  EXPECT_THROW(view::transpose(counted({2, 3}), 0, 2), Error);
}

// Reshaping a view must give the same elements as reshaping a copy of it, wherever it can be done.
TEST(Reshape, AnyLayoutGivesTheSameElementsAsACopy) {
  const Tensor base = counted({4, 6, 5});
  const Tensor layouts[] = {
      base,
      view::transpose(base, 0, 1),
      view::permute(base, {2, 0, 1}),
      view::slice(base, 0, 1, 3),
      view::slice(base, 1, 0, 6, 2),
      view::slice(base, 2, 1, 4),
      view::slice(view::slice(base, 0, 0, 4, 3), 2, 0, 5, 4),
      view::slice(base, 1, 2, 3),
      view::transpose(view::slice(base, 1, 2, 3), 1, 2),
      view::unsqueeze(view::transpose(base, 1, 2), 1),
      view::expand(counted({1, 6, 1}), {4, 6, 5}),
      view::expand(counted({1}), {2, 3}),
      view::slice(view::slice(base, 1, 0, 6, 2), 0, 0, 0),
      scalar(3.0, DType::i64),
  };
  for (const Tensor& x : layouts) {
    const std::int64_t n = x.numel();
    const Tensor copy = clone_data(x);
    const Values expected = values_of(copy);
    for (const Shape& shape : {Shape{n}, Shape{1, n, 1}, Shape{n / 2, 2}, Shape{2, n / 2},
                               Shape{4, n / 4}, Shape{2, n / 4, 2}, Shape{n / 5, 5},
                               Shape{4, 3, n / 12}, Shape{n / 15, 1, 3, 5}, x.shape()}) {
      if (numel(shape) != n) continue;
      EXPECT_EQ(values_of(view::reshape(copy, shape)), expected);
      if (!view::can_reshape(x, shape)) continue;
      const Tensor y = view::reshape(x, shape);
      EXPECT_EQ(y.storage(), x.storage());
      EXPECT_EQ(y.shape(), shape);
      EXPECT_EQ(values_of(y), expected) << to_string(x.strides()) << " as " << to_string(shape);
    }
  }
}

TEST(Reshape, KnowsWhatNeedsNoCopy) {
  const Tensor x = counted({4, 6, 5});
  EXPECT_TRUE(view::can_reshape(x, {-1}));
  EXPECT_FALSE(view::can_reshape(view::transpose(x, 0, 1), {-1}));
  EXPECT_TRUE(view::can_reshape(view::transpose(x, 0, 1), {6, 2, 2, 5}));
  EXPECT_TRUE(view::can_reshape(view::transpose(x, 0, 1), {3, 2, 4, 5}));
  EXPECT_FALSE(view::can_reshape(view::transpose(x, 0, 1), {24, 5}));
  EXPECT_TRUE(view::can_reshape(view::slice(x, 0, 0, 4, 2), {2, 30}));
  EXPECT_TRUE(view::can_reshape(view::slice(x, 2, 0, 5, 4), {24, 2}));
  EXPECT_FALSE(view::can_reshape(view::slice(x, 2, 0, 5, 4), {48}));
  // The stride of an axis of size 1 stands in nobody's way.
  const Tensor odd(x.storage(), x.dtype(), {4, 2, 1, 3}, {12, 3, 99, 1}, 0);
  EXPECT_TRUE(view::can_reshape(odd, {4, 6}));
  EXPECT_EQ(values_of(view::reshape(odd, {4, 6})), values_of(odd));
  EXPECT_EQ(
      error_message([&] { view::reshape(view::transpose(x, 0, 1), {120}); }),
      "[reshape] a view of shape [6, 4, 5] and strides [5, 30, 1] cannot become [120] without "
      "a copy: use contiguous(x)");
}

TEST(Reshape, WorksOutOneSize) {
  const Tensor x = counted({4, 6});
  EXPECT_EQ(view::reshape(x, {-1, 3}).shape(), (Shape{8, 3}));
  EXPECT_EQ(view::reshape(x, {2, -1}).shape(), (Shape{2, 12}));
  EXPECT_EQ(view::reshape(zeros({0, 4}), {-1, 2}).shape(), (Shape{0, 2}));
  EXPECT_EQ(view::reshape(scalar(1.0), {1, 1}).shape(), (Shape{1, 1}));
  EXPECT_EQ(view::reshape(zeros({1}), {}).rank(), 0);
  EXPECT_EQ(error_message([&] {
              view::reshape(x, {5, -1});
            }),
            "[reshape] 24 elements do not fill [5, -1]");
  EXPECT_EQ(error_message([&] {
              view::reshape(x, {5, 5});
            }),
            "[reshape] 24 elements do not fill [5, 5]");
  EXPECT_EQ(error_message([&] {
              view::reshape(x, {-1, -1});
            }),
            "[reshape] [-1, -1] has more than one -1");
  EXPECT_THROW(view::reshape(x, {-2, -12}), Error);
  EXPECT_THROW(view::reshape(zeros({0}), {-1, 0}), Error);
  const std::int64_t big = std::int64_t{1} << 32;
  EXPECT_THROW(view::reshape(x, {big, big}), Error);
  EXPECT_THROW(view::reshape(zeros({0}), {big, big}), Error);  // the product wraps around to 0
  EXPECT_THROW(view::reshape(x, {big, big, -1}), Error);
}

TEST(Expand, StretchesAndAddsAxes) {
  EXPECT_EQ(values_of(view::expand(counted({1, 3}), {2, 3})), (Values{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(values_of(view::expand(counted({2, 1}), {2, 3})), (Values{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(values_of(view::expand(counted({2}), {2, 2})), (Values{0, 1, 0, 1}));
  EXPECT_EQ(view::expand(scalar(1.0), {2, 3}).numel(), 6);
  EXPECT_EQ(view::expand(zeros({1, 2}), {0, 2}).numel(), 0);
  EXPECT_EQ(error_message([] { view::expand(zeros({2}), {3}); }),
            "[expand] [2] does not stretch to [3]: only sizes of 1 do");
  EXPECT_EQ(error_message([] {
              view::expand(zeros({2, 1}), {2});
            }),
            "[expand] [2] has fewer dimensions than [2, 1]");
  EXPECT_THROW(view::expand(zeros({1}), {-1}), Error);
  EXPECT_THROW(view::expand(zeros({2}), {-3, 2}), Error);
}

TEST(Unsqueeze, AndBack) {
  const Tensor x = counted({2, 3});
  EXPECT_EQ(view::unsqueeze(x, 0).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(view::unsqueeze(x, -1).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(view::unsqueeze(x, 1).shape(), (Shape{2, 1, 3}));
  EXPECT_TRUE(view::unsqueeze(x, 1).contiguous());
  EXPECT_EQ(values_of(view::squeeze(view::unsqueeze(x, 1), 1)), values_of(x));
  EXPECT_THROW(view::unsqueeze(x, 3), Error);
  EXPECT_EQ(error_message([&] { view::squeeze(x, 0); }),
            "[squeeze] axis 0 of [2, 3] has size 2, not 1");
}

TEST(Views, ShareTheStorageAndKeepItAlive) {
  Tensor x = arange(6);
  Tensor y = view::transpose(view::reshape(x, {2, 3}), 0, 1);
  x.mutable_data<std::int64_t>()[3] = 77;
  x = {};
  EXPECT_EQ(values_of(y), (Values{0, 77, 1, 4, 2, 5}));
}

}  // namespace
}  // namespace heed::view_test
