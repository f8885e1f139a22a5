// Generated sequences of bits, checked by rules that are written anew.
#include "heed/data/bit_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/error_message.h"

namespace heed::bit_tasks_test {
namespace {

using testing::HasSubstr;

TEST(BitTasks, CopyEndsWithAMark) {
  std::set<std::size_t> lengths;
  for (std::int64_t number = 0; number < 200; ++number) {
    const BitSequence made =
        make_bit_sequence({.bits = 3, .min_length = 2, .max_length = 5}, number);
    lengths.insert(made.output.size());
    ASSERT_EQ(made.input.size(), made.output.size() + 1);
    for (std::size_t i = 0; i < made.output.size(); ++i) {
      EXPECT_EQ(made.input[i], made.output[i] + "0");
      EXPECT_EQ(made.output[i].size(), 3u);
    }
    EXPECT_EQ(made.input.back(), "0001");
  }
  EXPECT_THAT(lengths, testing::ElementsAre(2, 3, 4, 5));
}

TEST(BitTasks, RepeatSaysHowOften) {
  std::set<std::size_t> seen;
  for (std::int64_t number = 0; number < 200; ++number) {
    const BitSequence made = make_bit_sequence(
        {.task = BitTask::repeat, .bits = 3, .min_length = 1, .max_length = 4, .max_repeats = 5},
        number);
    const std::size_t length = made.input.size() - 1;
    const std::string& mark = made.input.back();
    const std::size_t repeats = std::size_t(mark[0] - '0') + 2 * std::size_t(mark[1] - '0') +
                                4 * std::size_t(mark[2] - '0');
    seen.insert(repeats);
    EXPECT_EQ(mark[3], '1');
    ASSERT_EQ(made.output.size(), repeats * length + 1);
    for (std::size_t i = 0; i + 1 < made.output.size(); ++i) {
      EXPECT_EQ(made.output[i], made.input[i % length]);
    }
    EXPECT_EQ(made.output.back(), "0001");
  }
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST(BitTasks, RecallAsksForTheNextItem) {
  for (std::int64_t number = 0; number < 200; ++number) {
    const BitSequence made = make_bit_sequence(
        {.task = BitTask::recall, .bits = 12, .min_length = 2, .max_length = 6}, number);
    const std::string item = std::string(12, '0') + "10", asked = std::string(12, '0') + "01";
    ASSERT_EQ(made.output.size(), 3u);
    ASSERT_EQ(made.input.size() % 4, 1u);
    const std::size_t items = (made.input.size() - 5) / 4;
    EXPECT_EQ(made.input.back(), asked);
    EXPECT_EQ(made.input[items * 4], asked);
    bool is_found = false;
    for (std::size_t i = 0; i + 1 < items; ++i) {
      EXPECT_EQ(made.input[i * 4], item);
      bool is_same = true, follows = true;
      for (std::size_t k = 0; k < 3; ++k) {
        is_same &= made.input[i * 4 + 1 + k] == made.input[items * 4 + 1 + k];
        follows &= made.input[(i + 1) * 4 + 1 + k] == made.output[k] + "00";
      }
      is_found |= is_same && follows;
    }
    EXPECT_TRUE(is_found) << bits_line(made);
  }
}

TEST(BitTasks, SequencesDependOnSeedAndNumberAlone) {
  const auto line = [](std::uint64_t seed, std::int64_t number) {
    return bits_line(make_bit_sequence({.min_length = 9, .seed = seed}, number));
  };
  EXPECT_EQ(line(1, 5), line(1, 5));
  EXPECT_NE(line(1, 5), line(1, 6));
  EXPECT_NE(line(1, 5), line(2, 5));
}

TEST(BitTasks, SizesMustMakeSense) {
  EXPECT_THAT(error_message([] { make_bit_sequence({.min_length = 6, .max_length = 5}, 0); }),
              HasSubstr("lengths from 6 to 5"));
  EXPECT_THAT(error_message([] { make_bit_sequence({.task = BitTask::recall}, 0); }),
              HasSubstr("a length of 2"));
  EXPECT_THAT(error_message([] {
                make_bit_sequence({.task = BitTask::repeat, .bits = 3, .max_repeats = 8}, 0);
              }),
              HasSubstr("3 bits can say from 1 to 7"));
}

}  // namespace
}  // namespace heed::bit_tasks_test
