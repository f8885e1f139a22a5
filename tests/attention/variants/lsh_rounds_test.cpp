// Attention in rounds as one op: against the same by separate ops on sorted copies, values and
// gradients. lsh_test.cpp compares the layer with a softmax over the pairs that the rounds find.
#include "heed/attention/variants/lsh_rounds.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/attention/variants/lsh_scores.h"
#include "heed/autograd/gradcheck.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/rounds.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed::lsh_rounds_test {
namespace {

constexpr std::int64_t B = 2, T = 37, H = 3, D = 5, R = 3;

// Bucket 7 has one position in each line, so that some positions are alone.
LshRounds rounds_of(bool causal, bool unique) {
  Tensor buckets = empty({B, R, H, T}, DType::i64);
  const RandomStream random{3, 0};
  for (std::int64_t n = 0; n < buckets.numel(); ++n) {
    buckets.mutable_data<std::int64_t>()[n] =
        n % T == 11 ? 7 : random.below(static_cast<std::uint64_t>(n), 4);
  }
  const Tensor lengths = from_values<std::int64_t>({T, 20}, {B});
  return {.order = lsh_order(buckets, lengths, {.buckets = 8, .chunk = 6, .causal = causal}),
          .lengths = lengths,
          .causal = causal,
          .unique = unique};
}

std::vector<Tensor> rows(DType dtype) {
  Generator generator(4);
  std::vector<Tensor> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(normal({B, T, H, D}, 0.0, 1.0, generator, dtype).requires_grad());
  }
  return all;
}

RoundPlaces places_of(const LshOrder& order) {
  RoundPlaces at{empty({B, R * H, T}, DType::i64), empty({R, B * T * H}, DType::i64)};
  for (std::int64_t place = 0; place < B * R * H * T; ++place) {
    const std::int64_t b = place / (R * H * T), r = place / (H * T) % R, h = place / T % H;
    const std::int64_t row = (b * T + order.order.data<std::int64_t>()[place]) * H + h;
    at.rows.mutable_data<std::int64_t>()[place] = row;
    at.places.mutable_data<std::int64_t>()[r * B * T * H + row] = place;
  }
  return at;
}

Tensor by_separate_ops(const std::vector<Tensor>& x, const LshRounds& by) {
  const RoundPlaces at = places_of(by.order);
  const auto sorted = [&](const Tensor& rows) {
    return reshape(repeat_rows(reshape(rows, {B * T * H, D}), at), {B, R * H, T, D});
  };
  const Shape places{B, R * H, T};
  AttentionSpec spec{
      .mask = row_intervals(reshape(by.order.first, places), reshape(by.order.last, places))};
  spec.modifiers.push_back(lsh_scores(by.order, {.unique = by.unique}));
  const AttentionResult y =
      attention_with_log_sum_exp(sorted(x[0]), sorted(x[1]), sorted(x[2]), spec);
  return reshape(join_rounds(reshape(y.output, {-1, D}), reshape(y.log_sum_exp, {-1}), at),
                 {B, T, H, D});
}

TEST(LshRounds, AreTheSeparateOpsInOne) {
  for (const bool causal : {false, true}) {
    for (const bool unique : {false, true}) {
      LshRounds by = rounds_of(causal, unique);
      const std::vector<Tensor> plain = rows(DType::f32);
      const Tensor expected = by_separate_ops(plain, by);
      sum(square(expected)).backward();
      for (const std::int64_t heads : {0, 1, 2}) {
        by.heads_at_once = heads;
        const std::vector<Tensor> x = rows(DType::f32);
        const Tensor y = attend_in_rounds(x[0], x[1], x[2], by);
        EXPECT_LT(test::max_relative_error(y, expected), 2e-6);
        sum(square(y)).backward();
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_LT(test::max_relative_error(x[i].grad(), plain[i].grad()), 2e-5)
              << "input " << i << ", causal " << causal << ", unique " << unique;
        }
      }
    }
  }
}

TEST(LshRounds, GradientsWithDropout) {
  LshRounds by = rounds_of(true, true);
  by.heads_at_once = 2;
  for (std::uint64_t g = 0; g < 2; ++g) by.reweights.push_back(weight_dropout(0.3, g));
  const std::vector<Tensor> x = rows(DType::f64);
  const auto f = [&](std::span<const Tensor> in) {
    return attend_in_rounds(in[0], in[1], in[2], by);
  };
  const GradCheckResult result = gradcheck(f, x);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(LshRounds, APositionWithoutKeysGetsItsOwnValue) {
  const std::vector<Tensor> x = rows(DType::f32);
  const Tensor y = attend_in_rounds(x[0], x[1], x[2], rounds_of(true, false));
  EXPECT_TRUE(test::same_bits(slice(y, 1, 11, 12), slice(x[2], 1, 11, 12).detach()));
  const Tensor beyond = slice(select(y, 0, 1), 0, 20, T);
  EXPECT_EQ(max(abs(beyond)).item(), 0.0);
}

}  // namespace
}  // namespace heed::lsh_rounds_test
