#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Alibi, SlopesAreThoseOfThePaper) {
  EXPECT_EQ(
      alibi_slopes(8, DType::f64).to_vector<double>(),
      (std::vector<double>{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}));
  const std::vector<double> six = alibi_slopes(6, DType::f64).to_vector<double>();
  const std::vector<double> expected{0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  ASSERT_EQ(six.size(), expected.size());
  for (std::size_t h = 0; h < six.size(); ++h) EXPECT_NEAR(six[h], expected[h], 1e-12);
  EXPECT_EQ(alibi_slopes(4).dtype(), DType::f32);
}

TEST(Alibi, TheCornerIsTheCallers) {
  // One query; scores are 0 except for the bias, so a weight gives its distance.
  const Tensor q = zeros({1, 1, 1, 2}), k = zeros({1, 1, 3, 2});
  const Tensor v = from_values<float>({1, 0, 0}, {1, 1, 3, 1});
  const auto first_weight = [&](Corner corner) {
    return attention(q, k, v, {.modifiers = {alibi(full({1}, 0.5), corner)}}).to_vector<float>()[0];
  };
  const double a = std::exp(-0.5), b = std::exp(-1.0);
  EXPECT_NEAR(first_weight(Corner::top_left), 1.0 / (1.0 + a + b), 1e-6);
  EXPECT_NEAR(first_weight(Corner::bottom_right), b / (1.0 + a + b), 1e-6);
  EXPECT_NEAR(first_weight(Corner::offset(1)), a / (1.0 + 2.0 * a), 1e-6);
}

TEST(Alibi, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({1, 2, 3, 4});
  EXPECT_EQ(error_message([] { alibi_slopes(0); }),
            "[alibi_slopes] 0 heads: there must be at least one");
  EXPECT_EQ(error_message([&] { attention(x, x, x, {.modifiers = {alibi(ones({3}))}}); }),
            "[attention] slopes of alibi [3]: there must be one for each of 2 heads");
  EXPECT_EQ(
      error_message([&] { attention(x, x, x, {.modifiers = {alibi(ones({2}, DType::f64))}}); }),
      "[attention] slopes of alibi is f64, this call computes in f32: use cast(x, "
      "DType::f32)");
}

}  // namespace
}  // namespace heed
