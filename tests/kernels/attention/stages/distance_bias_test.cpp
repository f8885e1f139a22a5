#include "heed/kernels/attention/stages/distance_bias.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention/stages/stage_trial.h"

namespace heed::kernels::distance_bias_test {
namespace {

constexpr std::int64_t kOffset = 90, kLength = 240;  // distances -90 .. 149
constexpr std::int64_t kHeads = 2;

std::vector<double> parameters() {
  return heed::test::as_doubles(heed::test::random_floats(kHeads * kLength, 7));
}

// A table for each head, or one for all.
template <typename T>
DistanceBias<T> make(heed::test::Learned<T>& learned, bool per_head) {
  DistanceTable<T> table;
  table.values = learned.values.data();
  table.head_stride = per_head ? kLength : 0;
  table.offset = kOffset;
  table.length = kLength;
  table.gradient = learned.gradient.data();
  return DistanceBias<T>(table);
}

TEST(DistanceBiasStage, FloatEqualsDouble) {
  heed::test::compare_with_double(parameters(), [](auto& learned) { return make(learned, true); });
  heed::test::compare_with_double(parameters(), [](auto& learned) { return make(learned, false); });
}

TEST(DistanceBiasStage, GradientsEqualDifferences) {
  const heed::test::StagePlace place{.row = 3, .rows = 17, .col = 10, .cols = 33, .tile_rows = 16};
  heed::test::compare_with_differences(
      parameters(), [](auto& learned) { return make(learned, true); }, place);
}

TEST(DistanceBiasStage, AddsTheNumberOfTheDistance) {
  const double values[] = {-10, 0, 10, 20};  // of distances -1, 0, 1, 2
  DistanceTable<double> table;
  table.values = values;
  table.offset = 1;
  table.length = 4;
  DistanceBias<double> stage(table);
  heed::test::StageTrial<double> trial(stage, {.rows = 3, .cols = 2});
  // [key][query]
  EXPECT_EQ(trial.forward({{1, 2, 3, 4, 5, 6}, {}, std::vector<double>(15), {}}).tile,
            (std::vector<double>{1, 12, 23, -6, 5, 16}));
}

// Nothing may be read or written outside the table, although vectors are wider than its rest;
// sanitizers find reads, this test finds writes.
TEST(DistanceBiasStage, TouchesNothingAfterTheTable) {
  heed::test::for_each_isa([&](Isa isa) {
    std::vector<float> values(21), gradient = heed::test::guarded(21);
    std::fill(gradient.begin(), gradient.end() - 1, 0.0f);
    DistanceTable<float> table;
    table.values = values.data();
    table.offset = 10;
    table.length = 21;
    table.gradient = gradient.data();
    DistanceBias<float> stage(table);
    const heed::test::StagePlace place{.rows = 11, .cols = 11};
    heed::test::StageTrial<float> trial(stage, place);
    heed::test::StageValues<float> in = heed::test::as_floats(heed::test::random_values(place));
    std::fill(in.gradient.begin(), in.gradient.end(), 1.0f);
    trial.backward(in);
    for (int i = 0; i < 21; ++i) {
      EXPECT_EQ(gradient[static_cast<std::size_t>(i)], static_cast<float>(11 - std::abs(i - 10)))
          << name_of(isa) << ", distance " << i - 10;
    }
    EXPECT_EQ(gradient.back(), heed::test::kGuard);
  });
}

TEST(DistanceBiasStage, WithoutGradientWantsNothing) {
  DistanceTable<float> table;
  table.length = 5;
  EXPECT_EQ(DistanceBias<float>(table).needs(48, true).sums, 0);
}

}  // namespace
}  // namespace heed::kernels::distance_bias_test
