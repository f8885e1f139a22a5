// Batches by length, and results in order as soon as they can be.
#include "heed/generation/ordering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "heed/base/random.h"
#include "heed/io/config.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Lengths = std::vector<std::int64_t>;

TEST(PlanBatches, SimilarLengthsTogetherWithinTheBudget) {
  const Lengths lengths = {2, 9, 3, 8, 2, 30};
  EXPECT_THAT(plan_batches(lengths, {.batch_tokens = 18}),
              ElementsAre(ElementsAre(2, 0, 4), ElementsAre(1, 3), ElementsAre(5)));
  EXPECT_THAT(plan_batches(lengths, {.batch_tokens = 1000, .batch_sentences = 4}),
              ElementsAre(ElementsAre(0, 4), ElementsAre(5, 1, 3, 2)));
  EXPECT_THAT(plan_batches({}, {}), ElementsAre());
  EXPECT_THAT(plan_batches(Lengths{0, 0}, {.batch_tokens = 2}), ElementsAre(ElementsAre(0, 1)));
}

TEST(PlanBatches, EverySentenceOnceAndNoBatchTooLarge) {
  const RandomStream random{5, 0};
  for (std::uint64_t n = 0; n < 60; ++n) {
    Lengths lengths;
    for (std::uint64_t i = 0; i < n; ++i) lengths.push_back(random.below(100 * n + i, 70));
    std::set<std::int64_t> seen;
    std::int64_t earliest_before = -1;
    for (const auto& batch : plan_batches(lengths, {.batch_tokens = 150, .batch_sentences = 7})) {
      std::int64_t longest = 0, earliest = batch.at(0);
      for (const std::int64_t place : batch) {
        EXPECT_TRUE(seen.insert(place).second);
        longest = std::max(longest, lengths[static_cast<std::size_t>(place)]);
        earliest = std::min(earliest, place);
      }
      EXPECT_LE(batch.size(), 7u);
      EXPECT_LE(longest * std::ssize(batch), 150);
      EXPECT_GT(earliest, earliest_before);
      earliest_before = earliest;
    }
    EXPECT_EQ(seen.size(), n);
  }
}

using Filter = OrderedFilter<std::string, std::string>;

std::vector<std::string> upper(std::span<const Filter::Item> batch, const OnStep& /*on_step*/) {
  std::vector<std::string> outputs;
  for (const Filter::Item& item : batch) {
    outputs.push_back(fmt::format("{}:{}!", item.number, item.input));
  }
  return outputs;
}

TEST(OrderedFilter, AnswersInOrder) {
  std::vector<std::string> expected, answers;
  Filter filter({.window = 16, .batch_tokens = 40}, upper,
                [&](std::int64_t number, std::string output) {
                  EXPECT_EQ(number, std::ssize(answers));
                  answers.push_back(std::move(output));
                });
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::string input(RandomStream{3, 1}.below(i, 30), 'x');
    expected.push_back(fmt::format("{}:{}!", i, input));
    filter.add(input, std::ssize(input));
    EXPECT_EQ(answers.size(), (i + 1) / 16 * 16);  // no more than a window waits
  }
  filter.flush();
  EXPECT_EQ(answers, expected);
  filter.flush();
  EXPECT_EQ(answers.size(), 100u);
  filter.add("more", 4);
  filter.flush();
  EXPECT_EQ(answers.back(), "100:more!");
}

TEST(OrderedFilter, HandsOnAsSoonAsAllBeforeAreThere) {
  const int before = num_threads();
  set_num_threads(1);  // one batch after another
  std::vector<std::string> log;
  Filter filter(
      {.window = 100, .batch_tokens = 9},
      [&](std::span<const Filter::Item> batch, const OnStep& on_step) {
        std::string line = "run";
        for (const Filter::Item& item : batch) line += " " + item.input;
        log.push_back(line);
        return upper(batch, on_step);
      },
      [&](std::int64_t number, std::string) { log.push_back(fmt::format("emit {}", number)); });
  filter.add("a", 3);
  filter.add("b", 9);
  filter.add("c", 3);
  filter.add("d", 9);
  filter.flush();
  EXPECT_THAT(log,
              ElementsAre("run a c", "emit 0", "run b", "emit 1", "emit 2", "run d", "emit 3"));
  set_num_threads(before);
}

TEST(OrderedFilter, AWindowOfOneAnswersAtOnce) {
  int answers = 0;
  Filter filter({.window = 1}, upper, [&](std::int64_t, const std::string&) { ++answers; });
  for (int i = 0; i < 3; ++i) {
    filter.add("x", 1);
    EXPECT_EQ(answers, i + 1);
  }
}

TEST(OrderedFilter, InputsAndOutputsNeedOnlyBeMovable) {
  using Box = std::unique_ptr<int>;
  int sum = 0;
  OrderedFilter<Box, Box> filter(
      {},
      [](std::span<const OrderedFilter<Box, Box>::Item> batch, const OnStep&) {
        std::vector<Box> outputs;
        for (const auto& item : batch) outputs.push_back(std::make_unique<int>(*item.input + 1));
        return outputs;
      },
      [&](std::int64_t, Box output) { sum += *output; });
  filter.add(std::make_unique<int>(1), 1);
  filter.add(std::make_unique<int>(10), 1);
  filter.flush();
  EXPECT_EQ(sum, 13);
}

TEST(Ordering, WhatIsRefused) {
  OrderingOptions options;
  for (const char* member : {"window", "batch_tokens", "batch_sentences"}) {
    const std::string set = fmt::format("{}=0", member);
    EXPECT_THAT(error_message([&] { io::set_fields(options, {set}); }), HasSubstr(member));
  }
  EXPECT_THAT(error_message([] { Filter({.window = 0}, upper, {}); }), HasSubstr("window is 0"));
  EXPECT_THAT(error_message([] { Filter({.batch_tokens = -1}, upper, {}); }),
              HasSubstr("batch_tokens is -1"));
}

}  // namespace
}  // namespace heed
