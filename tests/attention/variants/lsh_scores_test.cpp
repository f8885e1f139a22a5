// The stage of LSH attention's scores: what it subtracts, pair by pair, in float and double.
#include "heed/attention/variants/lsh_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/stages/observers.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed::lsh_scores_test {
namespace {

// Queries and keys of 0 have scores of 0, so that what is left is what the stage has added.
TEST(LshScores, SubtractTheLogarithmOfHowManyRoundsFindAPair) {
  constexpr std::int64_t T = 70, R = 3;
  Tensor buckets = empty({1, R, 1, T}, DType::i64);
  const RandomStream random{5, 0};
  for (std::int64_t n = 0; n < buckets.numel(); ++n) {
    buckets.mutable_data<std::int64_t>()[n] = random.below(static_cast<std::uint64_t>(n), 3);
  }
  const LshOrder order = lsh_order(buckets, {}, {.buckets = 3, .chunk = 16, .causal = true});
  const auto at = [&](const Tensor& x, std::int64_t r, std::int64_t i) {
    return x.data<std::int64_t>()[r * T + i];
  };
  const auto finds = [&](std::int64_t r, std::int64_t i, std::int64_t j) {
    const std::int64_t mine = at(order.place, r, i), its = at(order.place, r, j);
    return at(order.first, r, mine) <= its && its < at(order.last, r, mine);
  };
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const bool unique : {false, true}) {
      const Tensor zero = zeros({1, R, T, 4}, dtype);
      Tensor seen;
      AttentionSpec spec{.modifiers = {lsh_scores(order, {.unique = unique})}};
      spec.observers.push_back(observe_scores(seen));
      attention(zero, zero, zero, spec);
      const std::vector<double> scores = cast_data(seen, DType::f64).to_vector<double>();
      for (std::int64_t n = 0; n < R * T * T; ++n) {
        const std::int64_t r = n / (T * T), i = at(order.order, r, n / T % T);
        const std::int64_t j = at(order.order, r, n % T);
        if (!finds(r, i, j)) continue;
        int times = 0;
        for (std::int64_t other = 0; other < R; ++other) times += finds(other, i, j) ? 1 : 0;
        const double log = unique ? std::log(times) : 0.0;
        const double expected = -log - (i == j ? 1e5 : 0.0);
        ASSERT_NEAR(scores[static_cast<std::size_t>(n)], expected, 1e-2 * (i == j) + 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace heed::lsh_scores_test
