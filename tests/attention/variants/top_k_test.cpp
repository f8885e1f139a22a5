#include "heed/attention/variants/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "heed/tensor/create.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TopKAttention make(std::int64_t k) {
  Generator generator(7);
  return TopKAttention({.multi_head = {.embed = 12, .heads = 3}, .k = k}, generator);
}

MultiHeadAttention full() {
  Generator generator(7);
  return MultiHeadAttention({.embed = 12, .heads = 3}, generator);
}

// The largest weights of plain attention, made to add up to 1 again; all others are 0.
TEST(TopK, KeepsTheLargestWeights) {
  const Tensor x = randn({2, 30, 12});
  const std::vector<float> all = test::weights_of(full(), {.x = x}).to_vector<float>();
  const std::vector<float> kept = test::weights_of(make(4), {.x = x}).to_vector<float>();
  for (std::size_t row = 0; row < all.size(); row += 30) {
    std::vector<float> best(all.begin() + static_cast<std::ptrdiff_t>(row),
                            all.begin() + static_cast<std::ptrdiff_t>(row) + 30);
    std::sort(best.begin(), best.end(), std::greater<>());
    const float sum = best[0] + best[1] + best[2] + best[3];
    for (std::size_t j = row; j < row + 30; ++j) {
      ASSERT_NEAR(kept[j], all[j] >= best[3] ? all[j] / sum : 0.0f, 1e-6f);
    }
  }
}

TEST(TopK, WithEnoughKeysItIsMultiHead) {
  const Tensor x = randn({2, 30, 12});
  EXPECT_LE(test::max_relative_error(make(30)({.x = x}), full()({.x = x})), 2e-6);
  EXPECT_LE(test::max_relative_error(make(99)({.x = x}), full()({.x = x})), 2e-6);
}

TEST(TopK, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { make(0); }), "[top_k] k 0: at least one key must take weight");
}

}  // namespace
}  // namespace heed
