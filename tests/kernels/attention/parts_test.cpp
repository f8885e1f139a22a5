#include "heed/kernels/attention/parts.h"

#include <gtest/gtest.h>

namespace heed::kernels {
namespace {

TEST(PartGrid, ManyHeadsAreNotSplit) {
  const AttentionShape shape{4, 8, 8, 2048, 2048, 64, 64};
  const PartGrid grid(shape);
  EXPECT_EQ(grid.parts(), 1);
  EXPECT_EQ(grid.cells(), 32);
}

TEST(PartGrid, OneLongHeadIs) {
  const AttentionShape shape{1, 1, 1, 8192, 8192, 64, 64};
  const PartGrid grid(shape);
  EXPECT_GT(grid.parts(), 1);
  EXPECT_EQ(grid.part_keys() % grid.span_keys(), 0);
  EXPECT_GE(grid.parts() * grid.part_keys(), shape.Tk);
  EXPECT_LT((grid.parts() - 1) * grid.part_keys(), shape.Tk);
}

TEST(PartGrid, CellsNameHeadAndPart) {
  const AttentionShape shape{2, 3, 1, 10, 8192, 128, 128};
  const PartGrid grid(shape);
  std::int64_t cell = 0;
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < 3; ++h) {
      for (std::int64_t p = 0; p < grid.parts(); ++p, ++cell) {
        const PartAt at = grid.at(cell);
        EXPECT_EQ(at.batch, b);
        EXPECT_EQ(at.head, h);
        EXPECT_EQ(at.part, p);
      }
    }
  }
  EXPECT_EQ(cell, grid.cells());
}

TEST(PartGrid, NoKeysAreOnePart) {
  const AttentionShape shape{1, 1, 1, 5, 0, 16, 16};
  EXPECT_EQ(PartGrid(shape).parts(), 1);
}

TEST(HeadsScratch, LaysOutHeadsOfAllBatches) {
  const HeadsScratch<float> scratch(2, 30, 4);
  const Heads<float> plain = scratch.heads(10, nullptr);
  EXPECT_EQ(plain.at(2, 1, 3) - plain.data, (30 + 20 + 3) * 4);
  const std::int64_t starts[] = {0, 4, 30};
  const Heads<float> packed = scratch.heads(26, starts);
  EXPECT_EQ(packed.at(1, 1, 2) - packed.data, (30 + 4 + 2) * 4);
}

}  // namespace
}  // namespace heed::kernels
