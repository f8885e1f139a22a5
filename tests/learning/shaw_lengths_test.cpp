// A model with Shaw's relative positions (Shaw, Uszkoreit and Vaswani 2018), trained on short
// sequences, works on longer ones. One with learned absolute positions does not, since the codes of
// later positions were never trained. The task is relative: predict the token three positions
// earlier.
#include <gtest/gtest.h>

#include "heed/ops/cross_entropy.h"
#include "heed/ops/order.h"
#include "tests/learning/learn.h"
#include "tests/learning/token_model.h"

namespace heed::test::shaw_lengths_test {
namespace {

constexpr std::int64_t kTokens = 16, kBack = 3, kTrained = 24, kTested = 2 * kTrained, kBatch = 32;

// At the positions that have a token three positions earlier: the prediction, and that token.
Tensor said(const TokenModel& model, const Tensor& tokens) {
  return slice(model(tokens), 1, kBack, tokens.size(1));  // [B, T - 3, V]
}
Tensor earlier(const Tensor& tokens) { return slice(tokens, 1, 0, tokens.size(1) - kBack); }

struct Scores {
  double trained, longer;  // tokens right at the longest length trained, and at the longer one
};

Scores train_reader(const TokenModelConfig& config) {
  default_generator() = Generator(1);
  TokenModel model(config);
  Generator data(2);
  learn(model, {.updates = 1000, .rate = 3e-3}, [&](int) {
    const std::int64_t T = *random_ids({1}, 8, kTrained + 1, data).data<std::int64_t>();
    const Tensor tokens = random_ids({kBatch, T}, 0, kTokens, data);
    return cross_entropy(said(model, tokens), earlier(tokens));
  });
  const NoGrad off;
  const auto score = [&](std::int64_t T) {
    const Tensor tokens = random_ids({200, T}, 0, kTokens, data);
    return share_equal(argmax(said(model, tokens), 2), earlier(tokens));
  };
  return {score(kTrained), score(kTested)};
}

TEST(Learning, ShawLengths) {
  TokenModelConfig relative{.vocabulary = kTokens};
  relative.block.positions = "shaw clip=8";
  const Scores shaw = train_reader(relative);
  TokenModelConfig absolute{.vocabulary = kTokens};
  absolute.block.positions = fmt::format("learned max_length={}", kTested);
  const Scores learned = train_reader(absolute);
  fmt::print(
      "shaw_lengths: tokens right at length {}: Shaw {:.3f}, learned {:.3f}; at {}: {:.3f}, "
      "{:.3f}\n",
      kTrained, shaw.trained, learned.trained, kTested, shaw.longer, learned.longer);
  EXPECT_GE(shaw.longer, 0.95);
  EXPECT_GE(learned.trained, 0.95);
  EXPECT_LE(learned.longer, shaw.longer - 0.3);
}

}  // namespace
}  // namespace heed::test::shaw_lengths_test
