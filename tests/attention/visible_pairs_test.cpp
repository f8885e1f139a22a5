#include "heed/attention/visible_pairs.h"

#include <gtest/gtest.h>

#include "heed/attention/masks.h"
#include "heed/attention/masks/mask_fn.h"

namespace heed {
namespace {

kernels::AttentionShape shape_of(std::int64_t B, std::int64_t H, std::int64_t Tq, std::int64_t Tk) {
  return {.B = B, .H = H, .G = H, .Tq = Tq, .Tk = Tk, .D = 4, .Dv = 4};
}

std::int64_t pairs(const kernels::AttentionShape& shape, const Mask& mask) {
  return visible_pairs(shape, mask.bind(shape).get());
}

TEST(VisiblePairs, WithoutAMaskAll) {
  EXPECT_EQ(pairs(shape_of(2, 3, 5, 7), {}), 2 * 3 * 5 * 7);
  EXPECT_EQ(pairs(shape_of(2, 3, 0, 7), {}), 0);
}

TEST(VisiblePairs, IntervalsAndFunctionsAreCountedAlike) {
  const auto shape = shape_of(2, 3, 130, 130);
  EXPECT_EQ(pairs(shape, causal()), 2 * 3 * 130 * 131 / 2);
  EXPECT_EQ(pairs(shape, mask_fn([](int, int, int i, int j) { return j <= i; })),
            2 * 3 * 130 * 131 / 2);
  EXPECT_EQ(pairs(shape, window(2, 1)), 2 * 3 * (130 * 4 - 2 - 1 - 1));
  EXPECT_EQ(pairs(shape, key_lengths({130, 10})), 3 * 130 * 140);
  // Head h shows every (h + 1)-th key.
  EXPECT_EQ(pairs(shape, mask_fn([](int, int h, int, int j) { return j % (h + 1) == 0; })),
            2 * 130 * (130 + 65 + 44));
  EXPECT_EQ(pairs(shape_of(1, 1, 5, 0), causal()), 0);
}

TEST(VisiblePairs, OfPackedSequencesTheirOwn) {
  const std::vector<std::int64_t> q{0, 2, 5}, k{0, 6, 8};
  auto shape = shape_of(2, 1, 3, 6);
  shape.q_starts = q.data();
  shape.k_starts = k.data();
  EXPECT_EQ(pairs(shape, {}), 2 * 6 + 3 * 2);
  EXPECT_EQ(pairs(shape, causal()), (1 + 2) + (1 + 2 + 2));
}

}  // namespace
}  // namespace heed
