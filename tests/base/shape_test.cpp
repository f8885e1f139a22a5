// Shapes: the small list itself, element counts, strides, broadcasting and axis numbers.
#include "heed/base/shape.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace heed {
namespace {

template <typename F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(ShapeTest, HoldsItsSizes) {
  const Shape s = {2, 3, 5};
  EXPECT_EQ(s.rank(), 3);
  EXPECT_EQ(s[0], 2);
  EXPECT_EQ(s.back(), 5);
  EXPECT_EQ(std::vector<std::int64_t>(s.begin(), s.end()), (std::vector<std::int64_t>{2, 3, 5}));
  EXPECT_EQ(s.span().size(), 3u);
  EXPECT_FALSE(s.empty());
  EXPECT_TRUE(Shape{}.empty());
  EXPECT_EQ(to_string(s), "[2, 3, 5]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Dims{-1}), "[-1]");
}

TEST(ShapeTest, EqualityIsOfRankAndSizes) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{3, 2}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{2, 3, 1}));
  Shape shrunk = {2, 3, 9};
  shrunk.erase(2);
  EXPECT_EQ(shrunk, (Shape{2, 3})) << "what lies after the rank does not count";
}

TEST(ShapeTest, InsertAndErase) {
  Shape s = {2, 3};
  s.insert(0, 1);
  EXPECT_EQ(s, (Shape{1, 2, 3}));
  s.insert(2, 7);
  EXPECT_EQ(s, (Shape{1, 2, 7, 3}));
  s.insert(4, 9);
  EXPECT_EQ(s, (Shape{1, 2, 7, 3, 9}));
  s.erase(0);
  s.erase(3);
  EXPECT_EQ(s, (Shape{2, 7, 3}));
  s.push_back(4);
  EXPECT_EQ(s, (Shape{2, 7, 3, 4}));
}

TEST(ShapeTest, RefusesTooManyDimensions) {
  EXPECT_EQ(Dims::filled(kMaxRank, 1).rank(), kMaxRank);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), Error);
  EXPECT_THROW(Dims::filled(kMaxRank + 1, 1), Error);
  EXPECT_THROW(Dims::filled(-1, 1), Error);
  Shape full = Dims::filled(kMaxRank, 1);
  EXPECT_THROW(full.push_back(1), Error);
  EXPECT_THROW(full.insert(0, 1), Error);
  EXPECT_EQ(full.rank(), kMaxRank) << "unchanged after a refusal";
}

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(numel(Shape{}), 1);
  EXPECT_EQ(numel({7}), 7);
  EXPECT_EQ(numel({2, 3, 5}), 30);
  EXPECT_EQ(numel({2, 0, 5}), 0);
  EXPECT_EQ(numel({1 << 20, 1 << 20}), std::int64_t{1} << 40);
}

TEST(ShapeTest, RowMajorStrides) {
  EXPECT_EQ(row_major({2, 3, 5}), (Strides{15, 5, 1}));
  EXPECT_EQ(row_major({7}), (Strides{1}));
  EXPECT_EQ(row_major(Shape{}), Strides{});
  EXPECT_EQ(row_major({2, 0, 5}), (Strides{5, 5, 1})) << "strides stay usable beside an empty axis";
}

TEST(ShapeTest, Broadcasting) {
  EXPECT_EQ(broadcast_shapes("add", {2, 3}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shapes("add", {2, 3}, {3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shapes("add", {2, 1}, {1, 5}), (Shape{2, 5}));
  EXPECT_EQ(broadcast_shapes("add", Shape{}, {4, 1}), (Shape{4, 1}));
  EXPECT_EQ(broadcast_shapes("add", {0, 3}, {1, 1}), (Shape{0, 3}));
  EXPECT_EQ(broadcast_shapes("add", {5, 1, 3}, {2, 1}), (Shape{5, 2, 3}));
}

TEST(ShapeTest, BroadcastingThatFailsNamesOpAndShapes) {
  EXPECT_EQ(
      message_of([] {
        broadcast_shapes("add", {2, 3}, {2, 4});
      }),
      "[add] shapes [2, 3] and [2, 4] do not broadcast: sizes 3 and 4 differ and neither is 1");
  EXPECT_THROW(broadcast_shapes("add", {0}, {2}), Error);
}

TEST(ShapeTest, AxesCountFromBothEnds) {
  EXPECT_EQ(resolve_axis("sum", 0, 3), 0);
  EXPECT_EQ(resolve_axis("sum", 2, 3), 2);
  EXPECT_EQ(resolve_axis("sum", -1, 3), 2);
  EXPECT_EQ(resolve_axis("sum", -3, 3), 0);
  EXPECT_THROW(resolve_axis("sum", 3, 3), Error);
  EXPECT_THROW(resolve_axis("sum", -4, 3), Error);
  EXPECT_EQ(message_of([] { resolve_axis("sum", 0, 0); }),
            "[sum] axis 0 of a scalar: a tensor of 0 dimensions has no axes");
  EXPECT_EQ(message_of([] { resolve_axis("sum", 5, 2); }),
            "[sum] axis 5 is outside a tensor of 2 dimensions: use -2 to 1");
}

}  // namespace
}  // namespace heed
