#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/attention.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Shaw, KeysAreAddedWithTheScaleOfTheScore) {
  const Tensor q = from_values<float>({2}, {1, 1, 1, 1}), k = zeros({1, 1, 2, 1});
  const Tensor v = from_values<float>({0, 1}, {1, 1, 2, 1});
  const Tensor table = from_values<float>({7, 0, 3}, {3, 1});  // distances -1, 0, 1
  const Tensor y =
      attention(q, k, v, {.score = scaled_dot_score(0.5), .modifiers = {shaw_keys(table)}});
  EXPECT_NEAR(y.item(), 1.0 / (1.0 + std::exp(-3.0)), 1e-6);
}

TEST(Shaw, ValuesAreReadWithTheirDistance) {
  const Tensor q = zeros({1, 1, 2, 1}), v = zeros({1, 1, 2, 1});
  const Tensor table = from_values<float>({8, 4, 2}, {3, 1});
  const Tensor y = attention(q, q, v, {.reweights = {shaw_values(table)}});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3, 6}));
}

TEST(Shaw, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({1, 2, 3, 4}), v = ones({1, 2, 3, 5});
  EXPECT_EQ(error_message([&] {
              attention(x, x, v, {.modifiers = {shaw_keys(ones({4, 4}))}});
            }),
            "[attention] table of shaw_keys [4, 4]: it must be [2c + 1, 4] or [2, 2c + 1, 4]");
  EXPECT_EQ(error_message([&] {
              attention(x, x, v, {.modifiers = {shaw_keys(ones({3, 5, 4}))}});
            }),
            "[attention] table of shaw_keys [3, 5, 4]: it must be [2c + 1, 4] or [2, 2c + 1, 4]");
  EXPECT_EQ(error_message([&] {
              attention(x, x, v, {.reweights = {shaw_values(ones({5, 4}))}});
            }),
            "[attention] table of shaw_values [5, 4]: it must be [2c + 1, 5] or [2, 2c + 1, 5]");
}

}  // namespace
}  // namespace heed
