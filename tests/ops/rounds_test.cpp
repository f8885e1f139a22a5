// Rows in several orders: compared with embedding, softmax and sum, and their gradients.
#include "heed/ops/rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "heed/autograd/gradcheck.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/embedding.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed::rounds_test {
namespace {

// Row n is at place (5 n + r) % N of round r; N must not be a multiple of 5.
RoundPlaces shuffled(std::int64_t rounds, std::int64_t N) {
  RoundPlaces at{empty({rounds * N}, DType::i64), empty({rounds, N}, DType::i64)};
  for (std::int64_t r = 0; r < rounds; ++r) {
    for (std::int64_t n = 0; n < N; ++n) {
      const std::int64_t place = r * N + (5 * n + r) % N;
      at.places.mutable_data<std::int64_t>()[r * N + n] = place;
      at.rows.mutable_data<std::int64_t>()[place] = n;
    }
  }
  return at;
}

Tensor plain_join(const Tensor& x, const Tensor& sums, const RoundPlaces& at) {
  const Tensor rows = embedding(x, at.places);                                    // [R, N, D]
  const Tensor of_rows = embedding(reshape(sums, {sums.numel(), 1}), at.places);  // [R, N, 1]
  return sum(rows * softmax(of_rows, 0), {0});                                    // [N, D]
}

TEST(Rounds, AreEmbeddingAndSoftmax) {
  for (const std::int64_t D : {1, 7, 17, 64}) {
    Generator generator(1);
    const RoundPlaces at = shuffled(3, 132);
    const Tensor x = normal({132, D}, 0.0, 1.0, generator);
    EXPECT_TRUE(test::same_bits(repeat_rows(x, at), embedding(x, at.rows)));
    const Tensor y = normal({396, D}, 0.0, 1.0, generator), s = normal({396}, 0.0, 3.0, generator);
    EXPECT_LT(test::max_relative_error(join_rounds(y, s, at), plain_join(y, s, at)), 1e-6);
  }
}

TEST(Rounds, Gradients) {
  Generator generator(2);
  const RoundPlaces at = shuffled(3, 7);
  const std::vector<Tensor> inputs = {normal({7, 5}, 0, 1, generator, DType::f64).requires_grad(),
                                      normal({21}, 0, 1, generator, DType::f64).requires_grad()};
  const auto f = [&](std::span<const Tensor> in) {
    return join_rounds(square(repeat_rows(in[0], at)) + unsqueeze(in[1], 1), in[1], at);
  };
  const GradCheckResult result = gradcheck(f, inputs);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(Rounds, ARowThatNoRoundKnowsIsZero) {
  const RoundPlaces at = shuffled(2, 2);
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  // Row 0 is at places 0 and 3, row 1 at 1 and 2.
  Tensor x = from_values({1.0f, 2.0f, 3.0f, 4.0f}, {4, 1}).requires_grad();
  Tensor sums = from_values({kNone, 0.0f, kNone, kNone}, {4}).requires_grad();
  const Tensor y = join_rounds(x, sums, at);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0.0f, 2.0f}));
  sum(y).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 1, 0, 0}));
  EXPECT_EQ(sums.grad().to_vector<float>(), (std::vector<float>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace heed::rounds_test
