#include "heed/kernels/attention/stages/shaw.h"

#include <gtest/gtest.h>

#include "tests/kernels/attention/stages/stage_trial.h"

namespace heed::kernels::shaw_test {
namespace {

struct Options {
  std::int64_t features = 5;
  std::int64_t clip = 4;
  bool per_head = true;
  std::int64_t first_query = 0;
};

std::vector<double> parameters(const Options& options) {
  return heed::test::as_doubles(
      heed::test::random_floats(2 * (2 * options.clip + 1) * options.features, 7));
}

template <template <typename> typename Stage, typename T>
Stage<T> make(heed::test::Learned<T>& learned, const Options& options) {
  RelativeTable<T> table;
  table.values = learned.values.data();
  table.clip = options.clip;
  table.features = options.features;
  table.head_stride = options.per_head ? table.rows() * options.features : 0;
  table.gradient = learned.gradient.data();
  table.first_query = options.first_query;
  return Stage<T>(table);
}

template <template <typename> typename Stage>
void compare_with_double(std::int64_t features) {
  for (const Options& options :
       {Options{.features = features}, Options{.features = features, .clip = 0},
        Options{.features = features, .clip = 16},
        Options{.features = features, .clip = 40, .per_head = false, .first_query = 7}}) {
    heed::test::compare_with_double(
        parameters(options), [&](auto& learned) { return make<Stage>(learned, options); }, 5e-6);
  }
}

template <template <typename> typename Stage>
void compare_with_differences(std::int64_t features, const heed::test::StagePlace& place) {
  for (const Options& options : {Options{.features = features},
                                 Options{.features = features, .clip = 2, .per_head = false}}) {
    heed::test::compare_with_differences(
        parameters(options), [&](auto& learned) { return make<Stage>(learned, options); }, place);
  }
}

TEST(ShawKeysStage, FloatEqualsDouble) { compare_with_double<ShawKeys>(5); }
TEST(ShawValuesStage, FloatEqualsDouble) { compare_with_double<ShawValues>(3); }

TEST(ShawKeysStage, GradientsEqualDifferences) {
  compare_with_differences<ShawKeys>(
      5, {.row = 3, .rows = 7, .col = 1, .cols = 9, .tile_cols = 4, .query_unit = 0.5});
}
TEST(ShawValuesStage, GradientsEqualDifferences) {
  compare_with_differences<ShawValues>(3,
                                       {.row = 3, .rows = 7, .col = 1, .cols = 9, .tile_cols = 4});
}

TEST(ShawKeysStage, AddsTheProductWithTheRowOfTheDistance) {
  const double values[] = {1, 0, 0, 1, 10, 100};  // rows of distance -1, 0, 1
  RelativeTable<double> table;
  table.values = values;
  table.clip = 1;
  table.features = 2;
  ShawKeys<double> stage(table);
  heed::test::StageTrial<double> trial(stage, {.rows = 2, .cols = 3, .features = 2});
  // Queries (2, 3) and (5, 7); the tile is [key][query].
  EXPECT_EQ(trial.forward({std::vector<double>(6), {}, {2, 5, 3, 7}, {}}).tile,
            (std::vector<double>{3, 5, 320, 7, 320, 750}));
}

TEST(ShawKeysStage, AQueryWithoutVisibleKeysMayBeNaN) {
  heed::test::for_each_isa([&](Isa isa) {
    const Options options;
    heed::test::Learned<float> learned(parameters(options));
    auto stage = make<ShawKeys>(learned, options);
    const heed::test::StagePlace place{.rows = 3, .cols = 4};
    heed::test::StageValues<float> in = heed::test::as_floats(heed::test::random_values(place));
    for (std::size_t f = 0; f < 5; ++f) in.queries[f * 3 + 1] = NAN;
    for (std::size_t c = 0; c < 4; ++c) in.gradient[c * 3 + 1] = 0.0f;
    heed::test::StageTrial<float>(stage, place).backward(in);
    for (const float x : learned.gradient) EXPECT_FALSE(std::isnan(x)) << name_of(isa);
  });
}

TEST(ShawValuesStage, ReadsTheRowOfTheDistance) {
  const double values[] = {1, 10, 100};  // of distance -1, 0, 1
  RelativeTable<double> table;
  table.values = values;
  table.clip = 1;
  table.features = 1;
  ShawValues<double> stage(table);
  heed::test::StageTrial<double> trial(stage,
                                       {.rows = 2, .cols = 3, .features = 0, .value_features = 1});
  const auto results = trial.forward({{1, 2, 3, 4, 5, 6}, {}, {}, {}});
  EXPECT_EQ(results.output, (std::vector<double>{10 + 300 + 500, 2 + 40 + 600}));
  EXPECT_EQ(results.tile, (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace heed::kernels::shaw_test
