// What a newly decoded position attends to, by hand. lsh_test.cpp compares steps with whole calls.
#include "heed/attention/variants/lsh_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heed/tensor/create.h"

namespace heed::lsh_state_test {
namespace {

using Ints = std::vector<std::int64_t>;

// Buckets of two rounds; the newest position is 5.
LshState filled(LshReach reach, bool unique = false) {
  LshState state({.rounds = 2, .buckets = 3, .chunk = 2, .reach = reach, .unique = unique});
  const Tensor rows = zeros({1, 1, 6, 1});
  state.append(rows, rows,
               from_values<std::int64_t>({1, 0, 1, 0, 1, 1, 2, 2, 0, 1, 2, 0}, {1, 2, 1, 6}));
  return state;
}

Ints of_round(const LshState::Seen& seen, std::int64_t round) {
  const std::int64_t most = seen.positions.size(3);
  const std::int64_t* const first = seen.positions.data<std::int64_t>() + round * most;
  return {first, first + seen.count.data<std::int64_t>()[round]};
}

TEST(LshState, KnowsWhatTheNewestPositionAttendsTo) {
  // Round 0 in order: 1 3 | 0 2 | 4 5; round 1: 2 5 | 3 0 | 1 4.
  const LshState::Seen bucket = filled(LshReach::bucket).seen_by_newest();
  EXPECT_EQ(of_round(bucket, 0), (Ints{2, 4, 5}));
  EXPECT_EQ(of_round(bucket, 1), (Ints{2, 5}));
  const LshState::Seen chunk = filled(LshReach::chunk).seen_by_newest();
  EXPECT_EQ(of_round(chunk, 0), (Ints{0, 2, 4, 5}));
  EXPECT_EQ(of_round(chunk, 1), (Ints{2, 5}));
  const LshState::Seen mixed = filled(LshReach::mixed).seen_by_newest();
  EXPECT_EQ(of_round(mixed, 0), (Ints{0, 2, 4, 5}));
  EXPECT_EQ(of_round(mixed, 1), (Ints{4, 5, 2, 5}));  // after the last chunk of round 0
}

TEST(LshState, BiasesAreThoseOfTheScores) {
  const LshState::Seen seen = filled(LshReach::bucket, true).seen_by_newest();
  ASSERT_EQ(seen.bias.shape(), (Shape{1, 2, 3}));
  const std::vector<double> bias = seen.bias.to_vector<double>();
  EXPECT_DOUBLE_EQ(bias[0], -std::log(2.0));        // position 2: both rounds
  EXPECT_DOUBLE_EQ(bias[1], 0.0);                   // position 4: one round
  EXPECT_DOUBLE_EQ(bias[2], -std::log(2.0) - 1e5);  // itself
  EXPECT_DOUBLE_EQ(bias[3], -std::log(2.0));
}

TEST(LshState, SequencesFollowTheirOrder) {
  LshState state({.batch = 2, .buckets = 2, .chunk = 4});
  const Tensor rows = zeros({2, 1, 3, 1});
  state.append(rows, rows, from_values<std::int64_t>({0, 0, 0, 1, 0, 1}, {2, 1, 1, 3}));
  const Ints from = {1, 1, 0};
  state.reorder(from);
  const LshState::Seen seen = state.seen_by_newest();
  EXPECT_EQ(seen.count.to_vector<std::int64_t>(), (Ints{2, 2, 3}));
}

}  // namespace
}  // namespace heed::lsh_state_test
