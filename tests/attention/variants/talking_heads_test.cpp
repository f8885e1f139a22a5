#include "heed/attention/variants/talking_heads.h"

#include <gtest/gtest.h>

#include "heed/attention/masks.h"
#include "heed/attention/variants/multi_head.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::talking_heads_test {
namespace {

TalkingHeadsAttention make() {
  Generator generator(7);
  return TalkingHeadsAttention({.embed = 12, .heads = 3}, generator);
}

void fill(Tensor& mix, std::initializer_list<float> numbers) {
  std::copy(numbers.begin(), numbers.end(), mix.mutable_data<float>());
}

// At first the mixes are the identity.
TEST(TalkingHeads, BeginsAsMultiHead) {
  const TalkingHeadsAttention layer = make();
  MultiHeadAttention plain({.embed = 12, .heads = 3, .joint = false});
  plain.q_proj->weight = layer.q_proj.weight;
  plain.q_proj->bias = layer.q_proj.bias;
  plain.k_proj->weight = layer.k_proj.weight;
  plain.k_proj->bias = layer.k_proj.bias;
  plain.v_proj->weight = layer.v_proj.weight;
  plain.v_proj->bias = layer.v_proj.bias;
  plain.out_proj.weight = layer.out_proj.weight;
  plain.out_proj.bias = layer.out_proj.bias;
  const Tensor x = randn({2, 9, 12});
  for (const bool causal : {false, true}) {
    EXPECT_LE(test::max_relative_error(layer({.x = x, .causal = causal}),
                                       plain({.x = x, .causal = causal})),
              1e-5);
  }
}

// The formula head by head.
TEST(TalkingHeads, MixesScoresAndWeights) {
  TalkingHeadsAttention layer = make();
  fill(layer.mix_scores, {0.5f, -1.0f, 0.25f, 1.0f, 2.0f, 0.0f, -0.5f, 0.75f, 1.5f});
  fill(layer.mix_weights, {1.0f, 0.5f, 0.0f, -0.25f, 1.0f, 0.5f, 0.0f, 2.0f, -1.0f});
  const Tensor x = randn({1, 5, 12}), memory = randn({1, 7, 12});
  const Tensor q = split_heads(layer.q_proj(x), 3), k = split_heads(layer.k_proj(memory), 3);
  const Tensor v = split_heads(layer.v_proj(memory), 3);
  const auto head = [](const Tensor& all, std::int64_t h) { return select(all, 1, h); };
  const auto number = [](const Tensor& mix, std::int64_t g, std::int64_t h) {
    return static_cast<double>(mix.data<float>()[g * 3 + h]);
  };
  std::vector<Tensor> soft, read;
  for (std::int64_t g = 0; g < 3; ++g) {
    Tensor scores = zeros({1, 5, 7});
    for (std::int64_t h = 0; h < 3; ++h) {
      scores = scores +
               matmul(head(q, h), transpose(head(k, h))) * (0.5 * number(layer.mix_scores, g, h));
    }
    soft.push_back(softmax(scores));
  }
  Tensor seen;
  const Tensor y = layer({.x = x, .memory = memory, .weights = &seen});
  for (std::int64_t h = 0; h < 3; ++h) {
    Tensor weights = zeros({1, 5, 7});
    for (std::int64_t g = 0; g < 3; ++g) {
      weights = weights + soft[static_cast<std::size_t>(g)] * number(layer.mix_weights, h, g);
    }
    EXPECT_LE(test::max_relative_error(head(seen, h), weights), 1e-5) << h;
    read.push_back(unsqueeze(matmul(weights, head(v, h)), 1));
  }
  EXPECT_LE(test::max_relative_error(y, layer.out_proj(join_heads(concat(read, 1)))), 1e-5);
}

TEST(TalkingHeads, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { TalkingHeadsAttention({.embed = 10, .heads = 3}); }),
            "[talking_heads] embed 10 is not a multiple of heads 3: change one of them");
}

}  // namespace
}  // namespace heed::talking_heads_test
