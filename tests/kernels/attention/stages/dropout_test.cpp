#include "heed/kernels/attention/stages/dropout.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/kernels/attention/stages/stage_trial.h"

namespace heed::kernels::dropout_test {
namespace {

const RandomStream kRandom{0x0123456789abcdef, 0xfedcba9876543210};

TEST(WeightDropoutStage, FloatEqualsDouble) {
  heed::test::compare_with_double({}, []<typename T>(heed::test::Learned<T>&) {
    return WeightDropout<T>(WeightMask(kRandom, 0.4));
  });
}

TEST(WeightDropoutStage, GradientsEqualDifferences) {
  heed::test::compare_with_differences({},
                                       []<typename T>(heed::test::Learned<T>&) {
                                         return WeightDropout<T>(WeightMask(kRandom, 0.4));
                                       },
                                       {.row = 5, .rows = 7, .col = 3, .cols = 9});
}

// The multipliers of a block, which may be cut into tiles in any way.
std::vector<float> multipliers(const heed::test::StagePlace& place, double p) {
  WeightDropout<float> stage(WeightMask(kRandom, p));
  const std::vector<float> ones(static_cast<std::size_t>(place.rows * place.cols), 1.0f);
  return heed::test::StageTrial<float>(stage, place).forward({ones, {}, {}, {}}).tile;
}

TEST(WeightDropoutStage, DoesNotDependOnTiling) {
  heed::test::StagePlace place{.row = 40, .rows = 64, .col = 5, .cols = 40, .features = 0};
  heed::test::for_each_isa([&](Isa isa) {
    place.tile_rows = place.rows;
    place.tile_cols = place.cols;
    const std::vector<float> whole = multipliers(place, 0.3);
    for (const std::int64_t cols : {1, 3, 8, 11}) {
      place.tile_rows = 16;
      place.tile_cols = cols;
      EXPECT_EQ(multipliers(place, 0.3), whole) << name_of(isa) << ", tiles of " << cols;
    }
    // A part of it, alone.
    heed::test::StagePlace part{.row = 40 + 9, .rows = 20, .col = 5 + 17, .cols = 4, .features = 0};
    const std::vector<float> few = multipliers(part, 0.3);
    for (std::size_t c = 0; c < 4; ++c) {
      for (std::size_t r = 0; r < 20; ++r) {
        EXPECT_EQ(few[c * 20 + r], whole[(17 + c) * 64 + 9 + r]) << name_of(isa);
      }
    }
  });
}

TEST(WeightDropoutStage, Statistics) {
  constexpr std::int64_t kRows = 256, kCols = 256;
  for (const double p : {0.1, 0.5, 0.9}) {
    const std::vector<float> x = multipliers({.rows = kRows, .cols = kCols, .features = 0}, p);
    double kept = 0, by_query = 0, by_key = 0, mean = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      kept += x[i] != 0.0f;
      mean += x[i];
      if (i % kRows != 0) by_query += x[i] != 0.0f && x[i - 1] != 0.0f;
      if (i >= kRows) by_key += x[i] != 0.0f && x[i - kRows] != 0.0f;
    }
    const double n = kRows * kCols, q = 1.0 - p;
    const double deviation = std::sqrt(p * q / n);
    EXPECT_NEAR(kept / n, q, 4 * deviation) << p;
    EXPECT_NEAR(mean / n, 1.0, 4 * deviation / q) << p;
    // Neighbours are kept independently of each other.
    EXPECT_NEAR(by_query / (n - kCols), q * q, 0.01) << p;
    EXPECT_NEAR(by_key / (n - kRows), q * q, 0.01) << p;
  }
}

TEST(WeightDropoutStage, HeadsBatchesStreamsAndSeedsDiffer) {
  std::set<std::vector<bool>> masks;
  int count = 0;
  for (const std::uint64_t seed : {1, 2}) {
    for (const std::uint64_t stream : {1, 2}) {
      for (const std::int64_t batch : {0, 1}) {
        for (const std::int64_t head : {0, 1}) {
          const WeightMask mask({seed, stream}, 0.5);
          const RandomStream of_head = mask.of_head(batch, head);
          std::vector<bool> kept;
          for (std::int64_t j = 0; j < 64; ++j) {
            kept.push_back(weight_dropout_keeps(mask, of_head, 3, j));
          }
          masks.insert(kept);
          ++count;
        }
      }
    }
  }
  EXPECT_EQ(masks.size(), static_cast<std::size_t>(count));
}

TEST(WeightDropoutStage, ScaleFitsTheRoundedRate) {
  EXPECT_EQ(WeightMask(kRandom, 0.0).scale, 1.0);
  EXPECT_EQ(WeightMask(kRandom, 0.5).scale, 2.0);
  EXPECT_DOUBLE_EQ(WeightMask(kRandom, 0.1).scale, 65536.0 / (65536 - 6554));
  EXPECT_EQ(WeightMask(kRandom, 0.9999999).scale, 65536.0);
  EXPECT_THROW(WeightMask(kRandom, 1.0), InternalError);
}

TEST(WeightDropoutStage, AtRateZeroKeepsAll) {
  const std::vector<float> x = multipliers({.rows = 64, .cols = 64, .features = 0}, 0.0);
  EXPECT_EQ(x, std::vector<float>(x.size(), 1.0f));
}

}  // namespace
}  // namespace heed::kernels::dropout_test
