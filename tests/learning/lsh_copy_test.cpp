// LSH attention of four rounds copies what a window cannot reach (Kitaev, Kaiser and Levskaya 2020,
// section 5): sequences 0 w 0 w of random w, whose second half is predicted. Each position attends
// to at most rounds * (chunk + 1) = 36 others, wherever they are. The window has as many, all of
// them near, and the copy is 63 positions away.
#include <gtest/gtest.h>

#include "heed/ops/cross_entropy.h"
#include "heed/ops/join.h"
#include "heed/ops/order.h"
#include "tests/learning/learn.h"
#include "tests/learning/token_model.h"

namespace heed::test::lsh_copy_test {
namespace {

constexpr std::int64_t kWord = 63, kLength = 2 * kWord + 2, kTokens = 16, kBatch = 16;

// [B, kLength].
Tensor make_sequences(std::int64_t batch, Generator& generator) {
  const Tensor zero = zeros({batch, 1}, DType::i64);
  const Tensor w = random_ids({batch, kWord}, 1, kTokens, generator);  // [B, kWord]
  return concat({zero, w, zero, w}, 1);
}

// Positions from the second 0 on predict the next token: [B, kWord, …].
Tensor second_half(const Tensor& x) { return slice(x, 1, kWord + 1, kLength - 1); }
Tensor next_tokens(const Tensor& tokens) { return slice(tokens, 1, kWord + 2, kLength); }

double train_copier(const AttentionChoice& attention, int updates) {
  default_generator() = Generator(1);
  TokenModelConfig config{.vocabulary = kTokens};
  config.block.positions = fmt::format("learned max_length={}", kLength);
  config.block.attention = attention;
  TokenModel model(config);
  Generator data(2);
  learn(model, {.updates = updates, .rate = 3e-3}, [&](int) {
    const Tensor tokens = make_sequences(kBatch, data);
    return cross_entropy(second_half(model(tokens)), next_tokens(tokens));
  });
  model.eval();
  const NoGrad off;
  const Tensor tokens = make_sequences(100, data);
  return share_equal(argmax(second_half(model(tokens)), 2), next_tokens(tokens));
}

TEST(Learning, LshCopy) {
  constexpr int kUpdates = 1000;
  const double lsh = train_copier("lsh rounds=4 chunk=8 buckets=16", kUpdates);
  const double window = train_copier("restricted left=36 right=0", kUpdates);
  fmt::print(
      "lsh_copy: tokens copied over {} positions: LSH-4 {:.3f}, window {:.3f}, chance {:.3f}\n",
      kWord, lsh, window, 1.0 / (kTokens - 1));
  EXPECT_GE(lsh, 0.9);
  EXPECT_LE(window, 2.0 / (kTokens - 1));
}

}  // namespace
}  // namespace heed::test::lsh_copy_test
