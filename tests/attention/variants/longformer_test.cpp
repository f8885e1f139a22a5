#include "heed/attention/variants/longformer.h"

#include <gtest/gtest.h>

#include "heed/attention/variants/restricted.h"
#include "heed/tensor/create.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

LongformerAttention make(std::int64_t first, std::vector<std::int64_t> others) {
  Generator generator(7);
  return LongformerAttention({.multi_head = {.embed = 12, .heads = 3},
                              .left = 3,
                              .right = 2,
                              .global_first = first,
                              .global_positions = std::move(others)},
                             generator);
}

TEST(Longformer, WeightsLieInTheWindowAndAtGlobalPositions) {
  const auto layer = make(2, {30, 17});
  const auto global = [](std::int64_t p) { return p < 2 || p == 17 || p == 30; };
  const Tensor w = test::weights_of(layer, {.x = randn({2, 40, 12})});  // [2, 3, 40, 40]
  for (std::int64_t at = 0; at < w.numel(); ++at) {
    const std::int64_t i = at / 40 % 40, j = at % 40;
    const bool seen = (j >= i - 3 && j <= i + 2) || global(i) || global(j);
    ASSERT_EQ(w.data<float>()[at] > 0.0f, seen) << i << " to " << j;
  }
}

TEST(Longformer, WithoutGlobalPositionsItIsRestricted) {
  Generator generator(7);
  const RestrictedAttention window({.multi_head = {.embed = 12, .heads = 3}, .left = 3, .right = 2},
                                   generator);
  const Tensor x = randn({2, 200, 12});
  EXPECT_LE(test::max_relative_error(make(0, {})({.x = x}), window({.x = x})), 2e-6);
}

TEST(Longformer, WithAllPositionsGlobalItIsMultiHead) {
  Generator generator(7);
  const MultiHeadAttention full({.embed = 12, .heads = 3}, generator);
  const Tensor x = randn({2, 200, 12});
  EXPECT_LE(test::max_relative_error(make(200, {})({.x = x}), full({.x = x})), 2e-6);
}

TEST(Longformer, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { make(-1, {}); }),
            "[longformer] left 3, right 2, global_first -1: none may be negative");
}

}  // namespace
}  // namespace heed
