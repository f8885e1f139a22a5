// Alignments from weights: links, words, and their texts.
#include "heed/generation/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::int64_t>;

Tensor some_weights() {
  return from_values({0.7f, 0.2f, 0.1f,   //
                      0.1f, 0.1f, 0.8f,   //
                      0.5f, 0.5f, 0.0f,   //
                      0.2f, 0.6f, 0.2f},  //
                     {4, 3});
}

TEST(HardAlignment, TheHeaviestSourceOfEachTarget) {
  EXPECT_EQ(to_pharaoh(hard_alignment(some_weights())), "0-0 0-2 1-3 2-1");
}

TEST(HardAlignment, AllAboveAThreshold) {
  EXPECT_EQ(to_pharaoh(hard_alignment(some_weights(), {.threshold = 0.5})), "0-0 0-2 1-2 1-3 2-1");
  EXPECT_EQ(to_pharaoh(hard_alignment(some_weights(), {.threshold = 0.75})), "2-1");
  EXPECT_TRUE(hard_alignment(some_weights(), {.threshold = 1.1}).empty());
}

TEST(HardAlignment, OnlyWhereBothSidesAgree) {
  EXPECT_EQ(to_pharaoh(hard_alignment(some_weights(), {.mutual = true})), "0-0 1-3 2-1");
  EXPECT_EQ(to_pharaoh(hard_alignment(some_weights(), {.threshold = 0.65, .mutual = true})),
            "0-0 2-1");
}

TEST(HardAlignment, StridedAndEmptyWeights) {
  const Tensor turned = view::transpose(some_weights(), 0, 1);  // [3, 4]
  EXPECT_EQ(to_pharaoh(hard_alignment(turned)), "0-0 1-2 3-1");
  EXPECT_TRUE(hard_alignment(zeros({0, 3})).empty());
  EXPECT_TRUE(hard_alignment(zeros({3, 0}), {.mutual = true}).empty());
}

TEST(HardAlignment, MistakesAreNamed) {
  EXPECT_EQ(error_message([] { hard_alignment(zeros({2})); }),
            "[alignment] weights must be [targets, sources] of f32");
  EXPECT_EQ(error_message([] {
              hard_alignment(full({1, 2}, NAN));
            }),
            "[alignment] the weights hold NaN");
}

TEST(WordNumbers, CountBegins) {
  EXPECT_THAT(word_numbers({true, false, true, true, false}), ElementsAre(0, 0, 1, 2, 2));
  EXPECT_THAT(word_numbers({false, false, true}), ElementsAre(0, 0, 1));
  EXPECT_THAT(word_numbers({}), ElementsAre());
}

TEST(MergeWords, Links) {
  const Words source = {0, 0, 1, kNoWord}, target = {0, 1, 1, kNoWord};
  EXPECT_EQ(
      to_pharaoh(merge_words({{0, 0}, {1, 0}, {2, 1}, {2, 2}, {3, 2}, {1, 3}}, {source, target})),
      "0-0 1-1");
  EXPECT_THAT(error_message([&] {
                merge_words({{4, 0}}, {source, target});
              }),
              HasSubstr("token 4 is linked, but words are given for 4 tokens"));
}

TEST(MergeWords, WeightsOfASourceWordAddUpThoseOfATargetWordAreTheMean) {
  const Words source = {0, 0, 1}, target = {0, 1, 1, kNoWord};
  const Tensor merged = merge_words(some_weights(), {source, target});
  ASSERT_EQ(merged.shape(), (Shape{2, 2}));
  const std::vector<float> expected = {0.9f, 0.1f, 0.6f, 0.4f};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(merged.values<float>()[i], expected[i]);
  EXPECT_THAT(error_message([&] {
                merge_words(some_weights(), {target, source});
              }),
              HasSubstr("weights [4, 3] of tokens, but words are given for 3 target"));
}

TEST(MergeWords, WithoutWordsNothingIsLeft) {
  const Words none(3, kNoWord), target = {0, 1, 2, 3};
  EXPECT_EQ(merge_words(some_weights(), {none, target}).shape(), (Shape{4, 0}));
  EXPECT_EQ(merge_words(zeros({0, 0}), {{}, {}}).shape(), (Shape{0, 0}));
}

TEST(Pharaoh, ReadsWhatItWrites) {
  const Alignment links = {{0, 0}, {0, 3}, {2, 1}, {10, 0}};
  EXPECT_EQ(to_pharaoh(links), "0-0 0-3 2-1 10-0");
  EXPECT_EQ(parse_pharaoh(to_pharaoh(links)), links);
  EXPECT_EQ(to_pharaoh({}), "");
}

TEST(Pharaoh, TakesAnyOrderAndSpacing) {
  EXPECT_EQ(parse_pharaoh(" 2-1\t0-0  0-0 \r\n"), (Alignment{{0, 0}, {2, 1}}));
  EXPECT_TRUE(parse_pharaoh("").empty());
  EXPECT_TRUE(parse_pharaoh("  ").empty());
}

TEST(Pharaoh, SaysWhichColumnIsWrong) {
  const std::pair<const char*, int> cases[] = {
      {"x", 1},    {"0", 2},     {"0-", 3},      {"0-0 1", 6}, {"0-0 -1-0", 5},
      {"0--1", 3}, {"0-1-2", 4}, {"0-0,1-1", 4}, {"+1-0", 1},  {"0 - 0", 2}};
  for (const auto& [line, column] : cases) {
    EXPECT_EQ(
        error_message([line = line] { parse_pharaoh(line); }),
        fmt::format("[pharaoh] column {}: a link is written source-target, as in 0-0 1-2", column))
        << line;
  }
  EXPECT_EQ(error_message([] { parse_pharaoh("0-99999999999999999999"); }),
            "[pharaoh] column 3: the number is too large");
}

TEST(SoftText, RowsOfWeights) {
  EXPECT_EQ(to_soft_text(from_values({1.0f, 0.0f, 0.25f, 0.75f}, {2, 2})), "1,0 0.25,0.75");
  EXPECT_EQ(to_soft_text(from_values({1.0f / 3.0f}, {1, 1})), "0.333333");
  EXPECT_EQ(to_soft_text(zeros({0, 2})), "");
}

}  // namespace
}  // namespace heed
