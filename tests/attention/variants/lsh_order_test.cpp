// Hashing and sorting by bucket, by hand and against their definition.
#include "heed/attention/variants/lsh_order.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using Ints = std::vector<std::int64_t>;

Ints ints(const Tensor& x) { return x.to_vector<std::int64_t>(); }

TEST(LshBuckets, AreTheNearestOfTheDirectionsAndTheirOpposites) {
  // One round, one head: directions (1, 0) and (0, 1), so buckets right, up, left, down.
  const Tensor directions = from_values({1.0f, 0.0f, 0.0f, 1.0f}, {1, 2, 2});
  const Tensor x = from_values({3.0f, 1.0f, -1.0f, 4.0f, -5.0f, 2.0f, 1.0f, -9.0f}, {1, 1, 4, 2});
  EXPECT_EQ(ints(lsh_buckets(x, directions, 1)), (Ints{0, 1, 2, 3}));
}

TEST(LshBuckets, LengthDoesNotMatterAndOppositesPart) {
  Generator generator(1);
  const Tensor x = normal({2, 3, 20, 8}, 0.0, 1.0, generator);
  const Tensor directions =
      lsh_directions({.heads = 3, .features = 8, .rounds = 4, .buckets = 6, .seed = 7});
  const Tensor buckets = lsh_buckets(x, directions, 4);
  EXPECT_EQ(buckets.shape(), (Shape{2, 4, 3, 20}));
  EXPECT_EQ(ints(lsh_buckets(100.0 * x, directions, 4)), ints(buckets));
  const Ints there = ints(buckets), across = ints(lsh_buckets(-x, directions, 4));
  for (std::size_t i = 0; i < there.size(); ++i) EXPECT_EQ(across[i], (there[i] + 3) % 6);
}

TEST(LshBuckets, RoundsAndHeadsHaveDirectionsOfTheirOwn) {
  Generator generator(2);
  const Tensor one = normal({1, 1, 200, 8}, 0.0, 1.0, generator);
  Tensor x = empty({1, 2, 200, 8});
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    x.mutable_data<float>()[i] = one.data<float>()[i % one.numel()];
  }
  const Ints all = ints(lsh_buckets(
      x, lsh_directions({.heads = 2, .features = 8, .rounds = 2, .buckets = 8, .seed = 3}), 2));
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto a = all.begin() + static_cast<std::ptrdiff_t>(200 * i);
      EXPECT_FALSE(std::equal(a, a + 200, all.begin() + static_cast<std::ptrdiff_t>(200 * j)));
    }
  }
}

TEST(LshBuckets, OfPairsAreBothHashes) {
  Generator generator(3);
  const Tensor x = normal({2, 2, 2100, 8}, 0.0, 1.0, generator);  // more than are hashed at once
  const LshDirections of{
      .heads = 2, .features = 8, .rounds = 2, .buckets = 6, .seed = 4, .factor = 4};
  EXPECT_EQ(of.width(), 5);
  const Tensor directions = lsh_directions(of);  // [H, D, 2 * 5]
  const Ints pairs = ints(lsh_buckets(x, directions, 2, 4));
  Ints first, second;
  for (std::int64_t r = 0; r < 2; ++r) {
    for (const Ints& part :
         {ints(lsh_buckets(x, contiguous(slice(directions, 2, 5 * r, 5 * r + 3)), 1))}) {
      first.insert(first.end(), part.begin(), part.end());
    }
    for (const Ints& part :
         {ints(lsh_buckets(x, contiguous(slice(directions, 2, 5 * r + 3, 5 * r + 5)), 1))}) {
      second.insert(second.end(), part.begin(), part.end());
    }
  }
  const std::int64_t line = 2 * 2100;  // of [B, R, H T]; first and second are [R, B, H T]
  for (std::int64_t n = 0; n < 8 * 2100; ++n) {
    const std::int64_t b = n / (2 * line), r = n / line % 2;
    const auto at = static_cast<std::size_t>((r * 2 + b) * line + n % line);
    ASSERT_EQ(pairs[static_cast<std::size_t>(n)], first[at] + 6 * second[at]);
  }
}

TEST(LshDirections, ComeFromTheSeed) {
  const LshDirections of{.heads = 2, .features = 4, .rounds = 2, .buckets = 6, .seed = 5};
  LshDirections other = of;
  other.seed = 6;
  EXPECT_TRUE(test::same_bits(lsh_directions(of), lsh_directions(of)));
  EXPECT_FALSE(test::same_bits(lsh_directions(of), lsh_directions(other)));
}

TEST(LshOrder, ByHand) {
  const Tensor buckets = from_values<std::int64_t>({1, 0, 1, 0, 2, 1}, {1, 1, 1, 6});
  const LshOrder all = lsh_order(buckets, {}, {.buckets = 3, .chunk = 2});
  EXPECT_EQ(ints(all.order), (Ints{1, 3, 0, 2, 5, 4}));
  EXPECT_EQ(ints(all.place), (Ints{2, 0, 3, 1, 5, 4}));
  // Buckets hold places 0-1, 2-4 and 5; chunks 0-1, 2-3 and 4-5.
  EXPECT_EQ(ints(all.first), (Ints{0, 0, 2, 2, 2, 5}));
  EXPECT_EQ(ints(all.last), (Ints{2, 2, 4, 4, 5, 6}));

  const LshOrder causal = lsh_order(buckets, {}, {.buckets = 3, .chunk = 1, .causal = true});
  EXPECT_EQ(ints(causal.order), ints(all.order));
  EXPECT_EQ(ints(causal.first), (Ints{0, 0, 2, 2, 3, 5}));
  EXPECT_EQ(ints(causal.last), (Ints{1, 2, 3, 4, 5, 6}));

  const LshOrder cut = lsh_order(buckets, from_values({4L}, {1}), {.buckets = 3, .chunk = 9});
  EXPECT_EQ(ints(cut.order), (Ints{1, 3, 0, 2, 4, 5}));
  EXPECT_EQ(ints(cut.first), (Ints{0, 0, 2, 2, 0, 0}));
  EXPECT_EQ(ints(cut.last), (Ints{2, 2, 4, 4, 0, 0}));
}

// The rule of the header, checked for every pair.
TEST(LshOrder, IsAStableSortWhoseIntervalsAreWhatIsBeside) {
  constexpr std::int64_t kBuckets = 5, T = 40, kChunk = 6;
  Generator generator(4);
  const Ints lengths = {40, 33, 0};
  for (const auto& [causal, reach] :
       {std::pair(false, LshReach::bucket), std::pair(true, LshReach::bucket),
        std::pair(false, LshReach::chunk), std::pair(true, LshReach::chunk)}) {
    Tensor buckets = empty({3, 2, 2, T}, DType::i64);
    const RandomStream random = generator.next();
    for (std::int64_t i = 0; i < buckets.numel(); ++i) {
      buckets.mutable_data<std::int64_t>()[i] =
          random.below(static_cast<std::uint64_t>(i), kBuckets);
    }
    const LshOrder made =
        lsh_order(buckets, from_values<std::int64_t>(lengths, {3}),
                  {.buckets = kBuckets, .chunk = kChunk, .causal = causal, .reach = reach});
    for (std::int64_t line = 0; line < 12; ++line) {
      const auto at = [&](const Tensor& x, std::int64_t i) {
        return x.data<std::int64_t>()[line * T + i];
      };
      const std::int64_t length = lengths[static_cast<std::size_t>(line / 4)];
      for (std::int64_t s = 0; s < T; ++s) {
        const std::int64_t t = at(made.order, s), bucket = at(buckets, t);
        ASSERT_EQ(at(made.place, t), s);
        ASSERT_EQ(s < length, t < length);
        if (s > 0 && s < length) {
          const std::int64_t before = at(made.order, s - 1), its = at(buckets, before);
          ASSERT_TRUE(its < bucket || (its == bucket && before < t));
        }
        for (std::int64_t other = 0; other < T; ++other) {
          const bool there = s < length && other < length;
          const bool near_chunk = other / kChunk == s / kChunk || other / kChunk == s / kChunk - 1;
          const bool beside = causal && reach == LshReach::bucket
                                  ? other <= s && other >= s - kChunk
                                  : near_chunk && (!causal || other <= s);
          const bool sees = there && beside && at(buckets, at(made.order, other)) == bucket;
          ASSERT_EQ(at(made.first, s) <= other && other < at(made.last, s), sees);
        }
      }
    }
  }
}

TEST(LshOrder, MixedKeysBeginWithTheLastChunkOfTheRoundBefore) {
  // Two rounds of five positions, sorted as 0 2 4 1 3 and 4 3 2 1 0; chunks of two places.
  const Tensor buckets = from_values<std::int64_t>({0, 1, 0, 1, 0, 4, 3, 2, 1, 0}, {1, 2, 1, 5});
  const LshOrder made =
      lsh_order(buckets, {}, {.buckets = 5, .chunk = 2, .causal = true, .reach = LshReach::mixed});
  EXPECT_EQ(ints(lsh_mixed_keys(made, 2)), (Ints{0, -1, 0, 2, 4, 1, 3, 3, -1, 4, 3, 2, 1, 0}));
  EXPECT_EQ(ints(slice(made.first, 1, 0, 1)), (Ints{0, 0, 2, 2, 4}));
  EXPECT_EQ(ints(slice(made.last, 1, 0, 1)), (Ints{4, 4, 6, 6, 8}));
  EXPECT_EQ(ints(lsh_mixed_keys(made, 5)),
            (Ints{-1, -1, -1, -1, -1, 0, 2, 4, 1, 3, -1, -1, -1, -1, -1, 4, 3, 2, 1, 0}));
}

// Later positions must not change which positions a position attends to.
TEST(LshOrder, CausalSightDoesNotDependOnTheFuture) {
  constexpr std::int64_t T = 30;
  const RandomStream random{11, 0};
  const auto seen_by = [&](std::int64_t position, std::uint64_t future) {
    Tensor buckets = empty({1, 1, 1, T}, DType::i64);
    for (std::int64_t t = 0; t < T; ++t) {
      const std::uint64_t at = static_cast<std::uint64_t>(t) + (t > position ? future : 0);
      buckets.mutable_data<std::int64_t>()[t] = random.below(at, 3);
    }
    const LshOrder made = lsh_order(buckets, {}, {.buckets = 3, .chunk = 4, .causal = true});
    const auto place =
        static_cast<std::size_t>(ints(made.place)[static_cast<std::size_t>(position)]);
    const Ints order = ints(made.order);
    return Ints(order.begin() + ints(made.first)[place], order.begin() + ints(made.last)[place]);
  };
  for (const std::int64_t position : {0, 7, 20}) {
    EXPECT_EQ(seen_by(position, 100), seen_by(position, 200));
  }
}

}  // namespace
}  // namespace heed
