#include "heed/attention/variants/entmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "heed/attention/registry.h"
#include "heed/tensor/create.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::entmax_layer_test {
namespace {

EntmaxAttention make(double alpha, double scale = 0.0) {
  Generator generator(7);
  return EntmaxAttention({.multi_head = {.embed = 12, .heads = 3, .scale = scale}, .alpha = alpha},
                         generator);
}

std::size_t zeros_in(const Tensor& weights) {
  const std::vector<float> all = weights.to_vector<float>();
  return static_cast<std::size_t>(std::ranges::count(all, 0.0f));
}

TEST(EntmaxAttention, RowsAreSparseAndSumToOne) {
  const Tensor x = randn({2, 30, 12});
  std::size_t before = 0;
  for (const double alpha : {1.2, 1.5, 2.0}) {
    const Tensor weights = test::weights_of(make(alpha, 2.0), {.x = x});
    const std::vector<float> all = weights.to_vector<float>();
    for (std::size_t row = 0; row < all.size(); row += 30) {
      float sum = 0.0f;
      for (std::size_t j = row; j < row + 30; ++j) sum += all[j];
      ASSERT_NEAR(sum, 1.0f, 1e-5f) << alpha;
    }
    EXPECT_GT(zeros_in(weights), before) << alpha;  // the greater alpha, the sparser
    before = zeros_in(weights);
  }
}

TEST(EntmaxAttention, EqualsTheOptionsOfMultiHead) {
  const Tensor x = randn({2, 30, 12});
  for (const auto& [alpha, normaliser] :
       {std::pair(1.5, "entmax15"), std::pair(2.0, "sparsemax")}) {
    Generator generator(7);
    const auto option = make_attention(
        "multi_head", {"embed=12", "heads=3", std::string("normaliser=") + normaliser}, generator);
    EXPECT_TRUE(test::same_bits(make(alpha)({.x = x}), (*option)({.x = x}))) << normaliser;
  }
}

TEST(EntmaxAttention, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { make(1.0); }),
            "[entmax] alpha 1: it must be above 1, which is softmax (multi_head), and at most 2");
  for (const std::string name : {"entmax", "top_k"}) {
    EXPECT_EQ(
        error_message([&] { make_attention(name, {"normaliser=sparsemax"}); }),
        "[" + name + "] normaliser sparsemax: this mechanism has its own; leave the option out");
  }
}

}  // namespace
}  // namespace heed::entmax_layer_test
