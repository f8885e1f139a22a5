// Classifying texts: the softmax of the model's scores for each text, whatever its batch.
#include "heed/generation/classify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::tiny_classifier;
using testing::ElementsAre;

TEST(Classify, TextsDoNotDependOnTheirNeighbours) {
  const TextClassifier classifier = tiny_classifier();
  std::vector<ReadText> texts;
  for (const char* const text : {"bad", "a cab dead bee", "", "hhhh"}) {
    texts.push_back(read_text(classifier, {text}, 100));
  }
  const auto together = classify(classifier, texts);
  ASSERT_EQ(together.size(), 4u);
  EXPECT_NE(together[0], together[1]);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto alone = classify(classifier, {&texts[i], 1})[0];
    ASSERT_EQ(alone.size(), 3u);
    EXPECT_NEAR(std::accumulate(alone.begin(), alone.end(), 0.0), 1.0, 1e-6);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(alone[c], together[i][c], 1e-5);
  }
  EXPECT_TRUE(classify(classifier, {}).empty());
}

TEST(Classify, TextsBeginWithBeginAndEndSomewhere) {
  const TextClassifier classifier = tiny_classifier();
  const std::int32_t begin = classifier.tokenizer->special().begin;
  const auto ids = classifier.tokenizer->encode("ab");
  EXPECT_THAT(read_text(classifier, {"ab"}, 3).ids, ElementsAre(begin, ids[0], ids[1]));
  EXPECT_THAT(read_text(classifier, {"ab"}, 2).ids, ElementsAre(begin, ids[0]));
  EXPECT_THAT(read_text(classifier, {""}, 2).ids, ElementsAre(begin));
}

TEST(Classify, KeepsTheOrderWhateverTheBatches) {
  const TextClassifier classifier = tiny_classifier();
  const std::vector<std::string> texts = {"bad", "a cab dead bee", "", "hhhh", "gh", "bad bad"};
  int batches = 0;
  const auto count = [&] { ++batches; };
  const auto together = classify_texts(classifier, texts, {}, count);
  EXPECT_EQ(batches, 1);
  const auto few = classify_texts(classifier, texts, {.batch_tokens = 16}, count);
  EXPECT_GT(batches, 2);
  ASSERT_EQ(together.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<ReadText> read = {read_text(classifier, {texts[i]}, 100)};
    const auto alone = classify(classifier, read)[0];
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(together[i][c], alone[c], 1e-5) << texts[i];
      EXPECT_NEAR(few[i][c], alone[c], 1e-5) << texts[i];
    }
  }
  EXPECT_EQ(
      error_message([&] { classify_texts(classifier, texts, {}, [] { throw Error("enough"); }); }),
      "enough");
}

TEST(Classify, ReadsNoMoreThanItMay) {
  const TextClassifier classifier = tiny_classifier();
  const auto cut =
      classify_texts(classifier, std::vector<std::string>{"abcdef"}, {.max_source = 3});
  EXPECT_EQ(cut, classify_texts(classifier, std::vector<std::string>{"ab"}));
}

TEST(Classify, LabelsAreOrderedByProbability) {
  EXPECT_THAT(by_probability(std::vector<float>{0.2f, 0.5f, 0.2f, 0.1f}), ElementsAre(1, 0, 2, 3));
  EXPECT_TRUE(by_probability({}).empty());
}

}  // namespace
}  // namespace heed
