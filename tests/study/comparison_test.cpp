#include "heed/study/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::comparison_test {
namespace {

using testing::HasSubstr;

ComparisonConfig small() {
  return {.lengths = {32, 64, 128},
          .sizes = {8, 16},
          .path_lengths = {8, 20},
          .kernel = 3,
          .neighbours = 4,
          .runs = 1};
}

const auto ignore = [](std::int64_t, std::int64_t, const std::string&) {};

const Comparison& compared() {
  static const Comparison comparison = compare_layers(small(), ignore);
  return comparison;
}

TEST(Comparison, OperationsAreThoseOfTheFormulas) {
  const Comparison& c = compared();
  for (std::size_t i = 0; i < 6; ++i) {
    const std::int64_t n = c.attention.points[i].length, d = c.attention.points[i].size;
    EXPECT_EQ(n, small().lengths[i % 3]);
    EXPECT_EQ(d, small().sizes[i / 3]);
    EXPECT_EQ(c.convolution.points[i].flops, 2 * 3 * n * d * d);
    EXPECT_EQ(c.recurrence.points[i].flops, 2 * 6 * n * d * d);
    EXPECT_EQ(c.attention.points[i].flops, 4 * n * n * d + 8 * n * d * d);
    const std::int64_t pairs = n * 9 - 4 * 5;
    EXPECT_EQ(c.restricted.points[i].flops, 4 * pairs * d + 8 * n * d * d);
  }
  EXPECT_NEAR(c.convolution.flops.in_length, 1.0, 1e-9);
  EXPECT_NEAR(c.convolution.flops.in_size, 2.0, 1e-9);
  EXPECT_NEAR(c.recurrence.flops.in_size, 2.0, 1e-9);
  EXPECT_GT(c.attention.flops.in_length, 1.7);
  EXPECT_LT(c.attention.flops.in_size, 1.2);
  EXPECT_NEAR(c.restricted.flops.in_length, 1.0, 0.05);
}

TEST(Comparison, OperationsCrossWhereTheFormulaSays) {
  for (const CrossoverAtSize& at : compared().crossovers) {
    ASSERT_TRUE(at.by_flops.at.has_value());
    EXPECT_NEAR(*at.by_flops.at, static_cast<double>(at.size), 1e-6);
    EXPECT_EQ(at.by_flops.place, Crossover::Place::before);
  }
}

TEST(Comparison, AnLstmCrossesAtTwiceTheSize) {
  ComparisonConfig config = small();
  config.recurrence = "lstm";
  config.sizes = {16, 128};
  const Comparison c = compare_layers(config, ignore);
  EXPECT_EQ(c.recurrence.points[0].flops, 2 * 8 * 32 * 16 * 16);
  // 4 n^2 d + 8 n d^2 = 16 n d^2
  EXPECT_NEAR(*c.crossovers[0].by_flops.at, 32.0, 1e-6);
  EXPECT_EQ(c.crossovers[1].by_flops.place, Crossover::Place::after);
  EXPECT_NEAR(*c.crossovers[1].by_flops.at, 256.0, 1e-6);
}

TEST(Comparison, PathsAreCounted) {
  const Comparison& c = compared();
  const auto path = [](const ComparedLayer& layer) { return layer.paths[1].counted.path; };
  EXPECT_EQ(path(c.convolution), 10);  // ceil(19 / 2)
  EXPECT_EQ(path(c.dilated), 3);       // ceil(log_3 20)
  EXPECT_EQ(path(c.recurrence), 20);
  EXPECT_EQ(path(c.attention), 1);
  EXPECT_EQ(path(c.restricted), 5);  // ceil(19 / 4)
  EXPECT_EQ(c.recurrence.paths[0].counted.sequential, 8);
  EXPECT_EQ(c.attention.paths[0].counted.sequential, 1);
}

TEST(Comparison, EveryPointCostsTimeAndMemory) {
  for (const ComparedLayer* const layer : compared().layers()) {
    if (layer == &compared().dilated) continue;
    ASSERT_EQ(layer->points.size(), 6u) << layer->title;
    for (const Measurement& m : layer->points) {
      EXPECT_GT(m.seconds, 0.0);
      EXPECT_GE(m.bytes, m.length * m.size * 4) << layer->title;  // the result at least
    }
    // No layer holds an n x n matrix.
    EXPECT_LT(layer->memory.in_length, 1.5) << layer->title;
  }
  EXPECT_TRUE(compared().dilated.points.empty());
}

TEST(Comparison, BackwardCostsMore) {
  ComparisonConfig config = small();
  config.backward = true;
  const Comparison c = compare_layers(config, ignore);
  for (const auto& [both, forward] : {std::pair{&c.convolution, &compared().convolution},
                                      {&c.recurrence, &compared().recurrence},
                                      {&c.attention, &compared().attention}}) {
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_GT(both->points[i].flops, 2 * forward->points[i].flops) << both->title;
      EXPECT_GT(both->points[i].bytes, forward->points[i].bytes) << both->title;
    }
  }
  // A convolution: twice the forward pass, exactly.
  EXPECT_EQ(c.convolution.points[0].flops, 3 * compared().convolution.points[0].flops);
}

TEST(Comparison, ProgressGoesToItsEnd) {
  std::int64_t calls = 0, last = -1, most = 0;
  ComparisonConfig config = small();
  config.lengths = {2, 4};
  config.path_lengths = {2};
  compare_layers(config, [&](std::int64_t done, std::int64_t total, const std::string& next) {
    EXPECT_EQ(done, last + 1);
    EXPECT_FALSE(next.empty());
    last = done;
    most = total;
    ++calls;
  });
  EXPECT_EQ(most, 5 * 1 + 4 * 2 * 2);
  EXPECT_EQ(last, most);
  EXPECT_EQ(calls, most + 1);
}

TEST(Comparison, BadConfigsAreNamed) {
  const auto says = [](auto change) {
    ComparisonConfig config = small();
    change(config);
    return error_message([&] { config.validate(); });
  };
  EXPECT_THAT(says([](auto& c) { c.lengths = {8}; }), HasSubstr("lengths 8: give at least two"));
  EXPECT_THAT(says([](auto& c) { c.sizes = {16, 8}; }), HasSubstr("sizes 16 8: give at least two"));
  EXPECT_THAT(says([](auto& c) { c.sizes = {8, 8}; }), HasSubstr("ascending"));
  EXPECT_THAT(says([](auto& c) { c.path_lengths = {1}; }), HasSubstr("path lengths 1"));
  EXPECT_THAT(says([](auto& c) { c.kernel = 1; }), HasSubstr("kernel of 1"));
  EXPECT_THAT(says([](auto& c) { c.neighbours = 0; }), HasSubstr("neighbourhood of 0"));
  EXPECT_THAT(says([](auto& c) { c.batch = 0; }), HasSubstr("batch 0"));
  EXPECT_THAT(says([](auto& c) { c.recurrence = "rnn"; }), HasSubstr("gru or lstm"));
}

}  // namespace
}  // namespace heed::comparison_test
