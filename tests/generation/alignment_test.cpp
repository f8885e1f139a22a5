// Alignments from weights: links, words, and their texts.
#include "heed/generation/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/evaluation/alignment.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"

namespace heed::alignment_test {
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

TEST(WordNumbers, AreThoseOfTheSpans) {
  const std::vector<WordSpan> words = {{0, 2}, {2, 3}, {4, 5}};
  EXPECT_THAT(word_numbers(words, 6), ElementsAre(0, 0, 1, kNoWord, 2, kNoWord));
  EXPECT_THAT(word_numbers({}, 2), ElementsAre(kNoWord, kNoWord));
  EXPECT_THAT(word_numbers({}, 0), ElementsAre());
  EXPECT_EQ(error_message([&] { word_numbers(words, 4); }),
            "[alignment] word 2 has the tokens 4 to 5, but there are 4");
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

TEST(Pharaoh, IsWrittenAsItIsRead) {
  const Alignment links = {{0, 0}, {0, 3}, {2, 1}, {10, 0}};
  EXPECT_EQ(to_pharaoh(links), "0-0 0-3 2-1 10-0");
  EXPECT_EQ(to_pharaoh({}), "");
  const auto read = evaluation::parse_alignments(to_pharaoh(links), "links", 0);
  ASSERT_EQ(read.size(), 1u);
  ASSERT_EQ(read[0].size(), links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    EXPECT_EQ(read[0][i].source, links[i].source);
    EXPECT_EQ(read[0][i].target, links[i].target);
    EXPECT_TRUE(read[0][i].sure);
  }
}

TEST(SoftText, RowsOfWeights) {
  EXPECT_EQ(to_soft_text(from_values({1.0f, 0.0f, 0.25f, 0.75f}, {2, 2})), "1,0 0.25,0.75");
  EXPECT_EQ(to_soft_text(from_values({1.0f / 3.0f}, {1, 1})), "0.333333");
  EXPECT_EQ(to_soft_text(zeros({0, 2})), "");
}

}  // namespace
}  // namespace heed::alignment_test
