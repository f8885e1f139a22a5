// Losses by position, compared with the loss of the whole text.
#include "heed/training/position_losses.h"

#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/models/language_model.h"
#include "tests/support/error_message.h"

namespace heed::position_losses_test {
namespace {

TokenStream text_of(std::int32_t tokens) {
  std::vector<std::int32_t> all;
  for (std::int32_t i = 0; i < tokens; ++i) all.push_back(i * i % 7);
  return TokenStream(all);
}

LanguageModel small_model() {
  LanguageModelConfig config{.vocabulary = 7, .layers = 1};
  config.block.embed = 8;
  config.block.heads = 2;
  LanguageModel model(config);
  model.eval();
  return model;
}

TEST(PositionLosses, PartsAddUpToTheWhole) {
  const LanguageModel model = small_model();
  const TokenStream text = text_of(75);  // 7 blocks of 10, and 4 tokens that are left out
  const auto parts = position_losses(model, text, {.length = 10, .parts = 3});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].first, 3);
  EXPECT_EQ(parts[1].last, 6);
  EXPECT_EQ(parts[2].count, 28);
  double sum = 0.0, right = 0.0;
  for (const PositionLoss& part : parts) {
    sum += part.loss * static_cast<double>(part.count);
    right += part.accuracy * static_cast<double>(part.count);
  }
  const NoGrad no_grad;
  const TokenBlocks all = text.blocks({.rows = 7, .length = 10}, 0);
  const LinearCrossEntropy whole =
      model.output_layer().loss(model(all.tokens), all.expected, {.reduction = Reduction::sum});
  EXPECT_NEAR(sum, whole.negative_log_likelihood, 1e-3);
  EXPECT_GT(right, 0.0);
  EXPECT_LT(right, 70.0);
  const auto one = position_losses(model, text, {.length = 10, .parts = 1, .blocks = 2});
  EXPECT_EQ(one[0].count, 20);
}

TEST(PositionLosses, WrongUseSaysWhatIsWrong) {
  const LanguageModel model = small_model();
  EXPECT_EQ(error_message([&] { position_losses(model, text_of(9), {.length = 10}); }),
            "[positions] the text has 9 tokens: a block needs 11");
  EXPECT_EQ(error_message([&] { position_losses(model, text_of(900), {.length = 300}); }),
            "[positions] blocks of 300 tokens: the model reads 256");
  EXPECT_EQ(
      error_message([&] { position_losses(model, text_of(90), {.length = 10, .parts = 11}); }),
      "[positions] 11 parts of 10 positions: give from 1 to 10");
}

}  // namespace
}  // namespace heed::position_losses_test
