#include "heed/attention/variants/block_sparse.h"

#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

BlockSparseAttention make(const BlockPattern& pattern) {
  Generator generator(7);
  return BlockSparseAttention({.multi_head = {.embed = 12, .heads = 3}, .pattern = pattern},
                              generator);
}

// Sequence of 8 blocks of 4: which blocks each one attends to.
void expect_blocks(const BlockPattern& pattern, const std::vector<std::string>& expected) {
  const Tensor w = test::weights_of(make(pattern), {.x = randn({1, 32, 12})});  // [1, 3, 32, 32]
  for (std::int64_t at = 0; at < w.numel(); ++at) {
    const auto i = static_cast<std::size_t>(at / 32 % 32), j = static_cast<std::size_t>(at % 32);
    ASSERT_EQ(w.data<float>()[at] > 0.0f, expected[i / 4][j / 4] == 'x') << i << " to " << j;
  }
}

TEST(BlockSparse, Fixed) {
  expect_blocks({.size = 4, .local = 0, .every = 3, .far = FarBlocks::fixed},
                {"x.x..x..", ".xx..x..", "..x..x..", "..xx.x..", "..x.xx..", "..x..x..", "..x..xx.",
                 "..x..x.x"});
}

TEST(BlockSparse, Strided) {
  expect_blocks({.size = 4, .local = 1, .every = 4, .far = FarBlocks::strided},
                {"xx..x...", "xxx..x..", ".xxx..x.", "..xxx..x", "x..xxx..", ".x..xxx.", "..x..xxx",
                 "...x..xx"});
}

TEST(BlockSparse, OneBlockIsMultiHead) {
  Generator generator(7);
  const MultiHeadAttention full({.embed = 12, .heads = 3}, generator);
  const Tensor x = randn({2, 50, 12});
  EXPECT_TRUE(test::same_bits(make({.size = 50, .every = 0})({.x = x}), full({.x = x})));
}

TEST(BlockSparse, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { make({.size = 0}); }),
            "[block_pattern] blocks of 0: the size must be at least 1");
}

}  // namespace
}  // namespace heed
