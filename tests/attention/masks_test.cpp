#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include <string>

#include "heed/attention/masks/block_pattern.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

TEST(Masks, TheListNamesEveryMaskAsItNamesItself) {
  const Tensor rows = zeros({1, 1, 2}, DType::i64);
  const Mask all[] = {
      causal(),
      prefix_causal({1}),
      window(1, 1),
      dilated_window({.left = 1, .step = 2}),
      window_around(zeros({1, 1, 2}), 1.0),
      global_positions({0}),
      key_lengths({2}),
      key_range(0, 1),
      row_intervals(rows, rows),
      segments(zeros({1, 2}, DType::i64)),
      block_list(2, std::vector<BlockPair>{{0, 0}}),
      block_pattern({}),
      boolean_mask(zeros({2, 2}, DType::boolean)),
      mask_fn([](int, int, int, int) { return true; }),
  };
  ASSERT_EQ(masks().size(), std::size(all));
  for (std::size_t i = 0; i < std::size(all); ++i) {
    EXPECT_EQ(masks()[i].name, all[i].name());
    EXPECT_GE(masks()[i].what.size(), 15u) << masks()[i].name;
  }
}

}  // namespace
}  // namespace heed
