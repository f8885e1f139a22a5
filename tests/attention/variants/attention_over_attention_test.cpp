// Attention over attention: an example by hand, lengths of both sides, and candidate words.
#include "heed/attention/variants/attention_over_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradcheck.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::max_relative_error;

// A document of 3 words and a query of 4, whose words are unit vectors, so that the document's
// features are the matches M. They are the logarithms of
//
//            q1  q2  q3  q4   sum
//   doc 1     1   1   2   4     8
//   doc 2     1   2   1   1     5
//   doc 3     2   1   2   3     8
//   sum       4   4   5   8
AttentionInput by_hand() {
  Tensor document = empty({1, 3, 4}, DType::f64);
  const double matches[] = {1, 1, 2, 4, 1, 2, 1, 1, 2, 1, 2, 3};
  for (int i = 0; i < 12; ++i) document.mutable_data<double>()[i] = std::log(matches[i]);
  Tensor query = zeros({1, 4, 4}, DType::f64);
  for (int j = 0; j < 4; ++j) query.mutable_data<double>()[5 * j] = 1.0;
  return {.x = query, .memory = document};
}

TEST(AttentionOverAttention, AnExampleByHand) {
  // Each query word over the document (columns divided by their sums):
  //   alpha = 1/4 1/4 2/5 4/8 | 1/4 2/4 1/5 1/8 | 2/4 1/4 2/5 3/8
  // Each document word over the query (rows divided by their sums):
  //   0.125 0.125 0.25 0.5 | 0.2 0.4 0.2 0.2 | 0.25 0.125 0.25 0.375
  // whose mean is beta = (0.575, 0.65, 0.7, 1.075) / 3. So three times s is
  //   doc 1: 0.14375 + 0.1625 + 0.28 + 0.5375   = 1.12375
  //   doc 2: 0.14375 + 0.325  + 0.14 + 0.134375 = 0.743125
  //   doc 3: 0.2875  + 0.1625 + 0.28 + 0.403125 = 1.133125
  const AttentionOverAttention layer({.embed = 4});
  const Tensor s = layer(by_hand());
  ASSERT_EQ(s.shape(), (Shape{1, 3}));
  EXPECT_NEAR(s.to_vector<double>()[0], 1.12375 / 3, 1e-15);
  EXPECT_NEAR(s.to_vector<double>()[1], 0.743125 / 3, 1e-15);
  EXPECT_NEAR(s.to_vector<double>()[2], 1.133125 / 3, 1e-15);
}

TEST(AttentionOverAttention, WeightsAreTheTermsOfTheSum) {
  const AttentionOverAttention layer({.embed = 4});
  const Tensor w = test::weights_of(layer, by_hand());
  ASSERT_EQ(w.shape(), (Shape{1, 1, 4, 3}));
  EXPECT_NEAR(w.to_vector<double>()[0], 0.25 * 0.575 / 3, 1e-15);           // q1, doc 1
  EXPECT_NEAR(w.to_vector<double>()[3 * 3 + 2], 0.375 * 1.075 / 3, 1e-15);  // q4, doc 3
  EXPECT_LE(max_relative_error(squeeze(sum(w, {2}), 1), layer(by_hand())), 1e-15);
}

TEST(AttentionOverAttention, PaddingOfDocumentAndQueryChangesNothing) {
  const AttentionOverAttention layer({.embed = 4});
  const AttentionInput in = by_hand();
  Tensor query = full({2, 6, 4}, NAN, DType::f64), document = full({2, 5, 4}, NAN, DType::f64);
  for (std::int64_t b = 0; b < 2; ++b) {
    Tensor to = view::slice(view::slice(query, 0, b, b + 1), 1, 0, 4);
    copy_into(to, in.x);
    to = view::slice(view::slice(document, 0, b, b + 1), 1, 0, 3);
    copy_into(to, in.memory);
  }
  const Tensor s =
      layer({.x = query, .memory = document, .lengths = from_values<std::int64_t>({3, 2}, {2})},
            from_values<std::int64_t>({4, 3}, {2}));  // [2, 5]
  const Tensor whole = layer(in);
  const Tensor part = layer({.x = clone_data(view::slice(in.x, 1, 0, 3)),
                             .memory = clone_data(view::slice(in.memory, 1, 0, 2))});
  const std::vector<double> all = s.to_vector<double>();
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_NEAR(all[j], j < 3 ? whole.to_vector<double>()[j] : 0.0, 1e-15) << j;
    EXPECT_NEAR(all[5 + j], j < 2 ? part.to_vector<double>()[j] : 0.0, 1e-15) << j;
  }
}

TEST(AttentionOverAttention, QueryLengthsHaveGradients) {
  Generator generator(2);
  const AttentionOverAttention layer({.embed = 3});
  const Tensor lengths = from_values<std::int64_t>({2, 4}, {2});
  std::vector<Tensor> leaves;
  leaves.push_back(normal({2, 4, 3}, 0.0, 1.0, generator, DType::f64).requires_grad());
  leaves.push_back(normal({2, 5, 3}, 0.0, 1.0, generator, DType::f64).requires_grad());
  const GradCheckResult result = gradcheck(
      [&](std::span<const Tensor> in) { return layer({.x = in[0], .memory = in[1]}, lengths); },
      leaves);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(CandidateScores, SumOverAllPlacesOfAWord) {
  const Tensor s = from_values({0.5f, 0.125f, 0.25f, 0.125f, 0.25f, 0.25f, 0.25f, 0.25f}, {2, 4});
  const Tensor ids = from_values<std::int64_t>({7, 9, 7, 4, 9, 9, 9, 1}, {2, 4});
  const Tensor candidates = from_values<std::int64_t>({7, 9, 5, 4, 9, 7}, {2, 3});
  EXPECT_EQ(candidate_scores(s, ids, candidates).to_vector<float>(),
            (std::vector<float>{0.75f, 0.125f, 0.0f, 0.0f, 0.75f, 0.0f}));
}

TEST(AttentionOverAttention, WrongUseSaysWhatIsWrong) {
  const AttentionOverAttention layer({.embed = 4});
  AttentionInput in = by_hand();
  EXPECT_EQ(error_message([&] { layer({.x = in.x}); }),
            "[attention_over_attention] memory is undefined: x must be the query and memory the "
            "document");
  EXPECT_EQ(error_message([&] { layer(in, from_values<std::int64_t>({5}, {1})); }),
            "[attention_over_attention] a length is 5: sequences have 0 to 4 positions");
  EXPECT_EQ(error_message([&] {
              candidate_scores(zeros({2, 3}), zeros({2, 4}, DType::i64), zeros({2, 1}, DType::i64));
            }),
            "[candidate_scores] weights are [2, 3] and ids [2, 4]: both must be [B, Tk]");
}

}  // namespace
}  // namespace heed
