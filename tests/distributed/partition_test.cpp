// Who owns which part of a list of tensors.
#include "heed/distributed/partition.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Partition, CutsAtPiecesAndCoversEverything) {
  const std::vector<std::int64_t> sizes = {3 * Partition::kPiece + 5, 1, 0, 2 * Partition::kPiece,
                                           70};
  for (const int ranks : {1, 2, 3, 7, 40}) {
    for (const std::int64_t bucket : {std::int64_t{0}, std::int64_t{1}, 3 * Partition::kPiece}) {
      const Partition partition(sizes, ranks, bucket);
      std::int64_t next = 0;
      for (std::size_t b = 0; b < partition.buckets(); ++b) {
        EXPECT_EQ(partition.range(b).begin, next);
        for (int r = 0; r < ranks; ++r) {
          EXPECT_EQ(partition.segment(b, r).begin, next);
          next = partition.segment(b, r).end;
        }
        EXPECT_EQ(partition.range(b).end, next);
      }
      EXPECT_EQ(next, partition.total());
      for (std::size_t t = 0; t < sizes.size(); ++t) {
        std::int64_t inside = 0;
        for (int r = 0; r < ranks; ++r) {
          const ElementRange part = partition.part(r, t);
          if (part.empty()) continue;
          EXPECT_GE(r, partition.owners(t).begin);
          EXPECT_LT(r, partition.owners(t).end);
          EXPECT_EQ(part.begin, inside);
          EXPECT_EQ(part.begin % Partition::kPiece, 0);
          inside = part.end;
        }
        EXPECT_EQ(inside, sizes[t]) << ranks << " ranks";
        EXPECT_GE(partition.owners(t).size(), sizes[t] > 0 ? 1 : 0);
        EXPECT_LE(partition.owners(t).end, ranks);
      }
    }
  }
}

TEST(Partition, BucketsAreWholeTensorsFromTheEnd) {
  constexpr std::int64_t kSome = Partition::kPiece;
  const std::vector<std::int64_t> sizes = {9 * kSome, kSome, kSome, 3 * kSome, 2 * kSome};
  const Partition partition(sizes, 2, 4 * kSome);
  ASSERT_EQ(partition.buckets(), 2u);
  EXPECT_EQ(partition.first_tensor(1), 3u);
  EXPECT_EQ(partition.bucket_of(2), 0u);
  EXPECT_EQ(partition.bucket_of(3), 1u);
  EXPECT_EQ(Partition(sizes, 8, 1).buckets(), 5u);
  const std::vector<std::int64_t> large = {Partition::kBucket, Partition::kBucket};
  EXPECT_EQ(Partition(large, 8).buckets(), 2u);
  EXPECT_EQ(Partition(large, 32).buckets(), 2u);
  EXPECT_EQ(Partition(large, 33).buckets(), 1u) << "a message for each rank";
}

TEST(Partition, SharesAreEqualToAPiece) {
  const std::vector<std::int64_t> sizes = {20 * Partition::kPiece};
  const Partition partition(sizes, 3);
  for (int r = 0; r < 3; ++r) {
    EXPECT_NEAR(static_cast<double>(partition.segment(0, r).size()) / Partition::kPiece, 20.0 / 3,
                1.0);
  }
}

TEST(Partition, APartHasItsPieces) {
  const auto pieces = Partition::pieces({Partition::kPiece, 2 * Partition::kPiece + 9});
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(pieces[0], (ElementRange{Partition::kPiece, 2 * Partition::kPiece}));
  EXPECT_EQ(pieces[1].size(), 9);
  EXPECT_TRUE(Partition::pieces({7, 7}).empty());
}

}  // namespace
}  // namespace heed
