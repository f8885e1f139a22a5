#include "heed/kernels/attention/stages/dense_bias.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention/stages/stage_trial.h"

namespace heed::kernels::dense_bias_test {
namespace {

constexpr std::int64_t kBatches = 2, kHeads = 2, kQueries = 144, kKeys = 90;

// The axes over which the bias is broadcast.
struct Shared {
  bool batch = false, head = false, row = false;
};

std::vector<double> parameters() {
  return heed::test::as_doubles(heed::test::random_floats(kBatches * kHeads * kQueries * kKeys, 7));
}

template <typename T>
DenseBias<T> make(heed::test::Learned<T>& learned, Shared shared) {
  DenseBiasTable<T> table;
  table.values.data = learned.values.data();
  table.values.batch = shared.batch ? 0 : kHeads * kQueries * kKeys;
  table.values.head = shared.head ? 0 : kQueries * kKeys;
  table.values.row = shared.row ? 0 : kKeys;
  table.gradient = {learned.gradient.data(), table.values.batch, table.values.head,
                    table.values.row};
  table.keys = kKeys;
  return DenseBias<T>(table);
}

constexpr Shared kShared[] = {
    {}, {.batch = true}, {.batch = true, .head = true, .row = true}, {.row = true}};

TEST(DenseBiasStage, FloatEqualsDouble) {
  for (const Shared& shared : kShared) {
    heed::test::compare_with_double(parameters(),
                                    [&](auto& learned) { return make(learned, shared); });
  }
}

TEST(DenseBiasStage, GradientsEqualDifferences) {
  // A small table, so that every number is tested by differences.
  constexpr std::int64_t kWidth = 8;
  for (const bool one_row : {false, true}) {
    const std::vector<double> few =
        heed::test::as_doubles(heed::test::random_floats(7 * kWidth, 7));
    const auto make_small = [&](heed::test::Learned<double>& learned) {
      DenseBiasTable<double> table;
      table.values.data = learned.values.data();
      table.values.row = one_row ? 0 : kWidth;
      table.gradient = {learned.gradient.data(), 0, 0, table.values.row};
      table.keys = kWidth;
      return DenseBias<double>(table);
    };
    heed::test::compare_with_differences(few, make_small,
                                         {.row = 2, .rows = 5, .col = 1, .cols = 7});
  }
}

TEST(DenseBiasStage, AddsTheNumberOfTheQueryAndTheKey) {
  const double values[] = {1, 2, 3, 4, 5, 6};  // [query][key]
  DenseBiasTable<double> table;
  table.values.data = values;
  table.values.row = 3;
  table.keys = 3;
  DenseBias<double> stage(table);
  heed::test::StageTrial<double> trial(stage, {.rows = 2, .cols = 3});
  EXPECT_EQ(trial.forward({std::vector<double>(6), {}, std::vector<double>(10), {}}).tile,
            (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(DenseBiasStage, TakesTurnsWhereHeadsOrBatchesWriteToOnePlace) {
  heed::test::Learned<float> learned(std::vector<double>(1));
  EXPECT_FALSE(make(learned, {}).in_turn());
  EXPECT_TRUE(make(learned, {.batch = true}).in_turn());
  EXPECT_TRUE(make(learned, {.head = true}).in_turn());
  // These use sums, one for each cell.
  EXPECT_FALSE(make(learned, {.batch = true, .head = true, .row = true}).in_turn());
  DenseBiasTable<float> fixed;
  EXPECT_FALSE(DenseBias<float>(fixed).in_turn());
}

}  // namespace
}  // namespace heed::kernels::dense_bias_test
