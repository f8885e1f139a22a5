#include "heed/kernels/attention/stages/shaw_values.h"

#include <gtest/gtest.h>

#include "heed/base/arena.h"
#include "tests/kernels/attention/stages/stage_trial.h"

namespace heed::kernels::shaw_values_test {
namespace {

constexpr std::int64_t kFeatures = 3;

struct Options {
  std::int64_t clip = 4;
  bool per_head = true;
  std::int64_t first_query = 0;
};

std::vector<double> parameters(const Options& options) {
  return test::as_doubles(test::random_floats(2 * (2 * options.clip + 1) * kFeatures, 7));
}

template <typename T>
ShawValues<T> make(test::Learned<T>& learned, const Options& options) {
  RelativeTable<T> table;
  table.values = learned.values.data();
  table.clip = options.clip;
  table.features = kFeatures;
  table.head_stride = options.per_head ? table.rows() * kFeatures : 0;
  table.gradient = learned.gradient.data();
  table.first_query = options.first_query;
  return ShawValues<T>(table);
}

TEST(ShawValuesStage, FloatEqualsDouble) {
  for (const Options& options : {Options{}, Options{.clip = 0}, Options{.clip = 16},
                                 Options{.clip = 40, .per_head = false, .first_query = 7}}) {
    test::compare_with_double(
        parameters(options), [&](auto& learned) { return make(learned, options); }, 5e-6);
  }
}

TEST(ShawValuesStage, GradientsEqualDifferences) {
  for (const Options& options : {Options{}, Options{.clip = 2, .per_head = false}}) {
    test::compare_with_differences(parameters(options),
                                   [&](auto& learned) { return make(learned, options); },
                                   {.row = 3, .rows = 7, .col = 1, .cols = 9, .tile_cols = 4});
  }
}

TEST(ShawValuesStage, ReadsTheRowOfTheDistance) {
  const double values[] = {1, 10, 100};  // of distance -1, 0, 1
  RelativeTable<double> table;
  table.values = values;
  table.clip = 1;
  table.features = 1;
  ShawValues<double> stage(table);
  test::StageTrial<double> trial(stage, {.rows = 2, .cols = 3, .features = 0, .value_features = 1});
  const auto results = trial.forward({{1, 2, 3, 4, 5, 6}, {}, {}, {}});
  EXPECT_EQ(results.output, (std::vector<double>{10 + 300 + 500, 2 + 40 + 600}));
  EXPECT_EQ(results.tile, (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace heed::kernels::shaw_values_test
