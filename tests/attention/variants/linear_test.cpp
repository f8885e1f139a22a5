// Linear attention against its formula, pair by pair, and its chunks against one another.
#include "heed/attention/variants/linear.h"

#include <gtest/gtest.h>

#include "heed/autograd/gradcheck.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/attention/variants/beams.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

// sum_j phi(q_i) . phi(k_j) v_j / sum_j phi(q_i) . phi(k_j) over j <= i or all j, in one head.
Tensor plain(const LinearAttention& layer, const AttentionInput& in) {
  const auto phi = [](const Tensor& x) {  // x + 1 above 0, e^x below
    return where(greater(x, zeros({1}, x.dtype())), x + 1.0, exp(x));
  };
  const Tensor q = phi(layer.q_proj(in.x)), k = phi(layer.k_proj(in.source()));  // [B, T, E]
  Tensor scores = matmul(q, transpose(k));                                       // [B, Tq, Tk]
  if (in.causal) {
    const Tensor i = reshape(arange(q.size(1)), {q.size(1), 1}), j = arange(k.size(1));
    scores = where(less_equal(j, i), scores, 0.0);
  }
  const Tensor w = scores / sum(scores, {2}, {.keep_axes = true});
  return layer.out_proj(matmul(w, layer.v_proj(in.source())));
}

TEST(LinearAttention, IsTheFormula) {
  for (const std::int64_t chunk : {1, 3, 4, 64}) {
    for (const std::int64_t T : {1, 4, 13, 70}) {
      Generator generator(2);
      const LinearAttention layer({.embed = 6, .heads = 1, .chunk = chunk}, generator);
      const Tensor x = normal({2, T, 6}, 0.0, 1.0, generator);
      for (const bool causal : {false, true}) {
        const AttentionInput in{.x = x, .causal = causal};
        EXPECT_LT(test::max_relative_error(layer(in), plain(layer, in)), 3e-6)
            << "chunk " << chunk << ", T " << T << ", causal " << causal;
      }
    }
  }
}

TEST(LinearAttention, ACausalMemoryMayBeLongerOrShorter) {
  for (const std::int64_t Tk : {3, 9, 20}) {
    Generator generator(3);
    const LinearAttention layer({.embed = 6, .heads = 1, .memory_embed = 5, .chunk = 4}, generator);
    const AttentionInput in{.x = normal({2, 9, 6}, 0.0, 1.0, generator),
                            .memory = normal({2, Tk, 5}, 0.0, 1.0, generator),
                            .causal = true};
    EXPECT_LT(test::max_relative_error(layer(in), plain(layer, in)), 3e-6) << Tk;
  }
}

TEST(LinearAttention, WeightsReadTheValues) {
  Generator generator(4);
  const LinearAttention layer({.embed = 6, .heads = 1, .chunk = 4}, generator);
  const Tensor x = normal({2, 11, 6}, 0.0, 1.0, generator);
  for (const bool causal : {false, true}) {
    const AttentionInput in{.x = x, .lengths = from_values({11L, 7L}, {2}), .causal = causal};
    const Tensor w = test::weights_of(layer, in);  // [2, 1, 11, 11]
    EXPECT_LT(
        test::max_relative_error(layer.out_proj(matmul(squeeze(w, 1), layer.v_proj(x))), layer(in)),
        3e-6);
    EXPECT_LT(test::max_relative_error(sum(w, {3}), ones({2, 1, 11})), 3e-6);
  }
}

TEST(LinearAttention, GradientsFlowFromChunkToChunk) {
  Generator generator(5);
  LinearAttention layer({.embed = 4, .heads = 2, .chunk = 3}, generator);
  layer.to(DType::f64);
  Tensor x = normal({1, 10, 4}, 0.0, 1.0, generator, DType::f64).requires_grad();
  const auto f = [&](std::span<const Tensor> in) { return layer({.x = in[0], .causal = true}); };
  const GradCheckResult result = gradcheck(f, std::span(&x, 1));
  EXPECT_TRUE(result.ok) << result.message;
}

// Features that underflow leave nothing to divide by.
TEST(LinearAttention, KeysFarBelowZeroGiveNothingAndNoNan) {
  LinearAttention layer({.embed = 2, .heads = 1});
  for (Tensor* const weight : {&layer.q_proj.weight.data, &layer.k_proj.weight.data}) {
    copy_into(*weight, from_values({1e4f, 0.0f, 0.0f, 1e4f}, {2, 2}));
  }
  for (const bool causal : {false, true}) {
    const Tensor y = layer({.x = full({1, 3, 2}, -1.0), .causal = causal});
    EXPECT_LT(test::max_relative_error(y, expand(layer.out_proj.bias, {1, 3, 2})), 1e-6);
  }
}

TEST(LinearAttention, BeamsFollowTheirSequences) {
  const LinearAttention layer({.embed = 6, .heads = 2, .chunk = 3});
  test::check_beams(layer, 6);
}

TEST(LinearAttention, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { LinearAttention({.embed = 10, .heads = 4}); }),
            "[linear] embed 10 is not a multiple of heads 4");
  const LinearAttention layer({.embed = 4, .heads = 2, .memory_embed = 6});
  EXPECT_EQ(error_message([&] {
              layer({.x = zeros({2, 3, 4})});
            }),
            "[linear] memory is [2, 3, 4]: it must be [2, Tk, 6]");
}

}  // namespace
}  // namespace heed
