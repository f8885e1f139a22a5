// Words that a reader finds: sums over occurrences, any company, folders.
#include "heed/generation/cloze_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/model_folder.h"
#include "heed/models/reader.h"
#include "heed/tensor/create.h"
#include "heed/text/words.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::cloze_reader_test {
namespace {

using testing::HasSubstr;

ClozeReader tiny() {
  TokenCounter counter;
  for (const char* word : {"a", "b", "c", "d", "XXXXX"}) counter.add(word);
  const auto words = std::make_shared<Words>(counter.vocabulary());
  Generator generator(4);
  auto model = std::make_unique<Reader>(ReaderConfig{.vocabulary = words->size(),
                                                     .padding = words->special().padding,
                                                     .embed = 5,
                                                     .hidden = 4},
                                        generator);
  model->eval();
  return {std::move(model), words};
}

TEST(ClozeReader, CandidatesAreAddedUp) {
  const Tensor p = from_values<float>({0.3f, 0.25f, 0.2f, 0.25f, 0.5f, 0.5f, 0.0f, 0.0f}, {2, 4});
  const Tensor at = from_values<std::int64_t>({0, 1, 2, 1, 0, 1, -1, -1}, {2, 4});
  const std::vector<BestCandidate> best = best_candidates(p, at);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].number, 1);
  EXPECT_FLOAT_EQ(static_cast<float>(best[0].probability), 0.5f);
  EXPECT_EQ(best[1].number, 0) << "the first of equals";
}

TEST(ClozeReader, AnswersAreWordsOfThePassage) {
  const ClozeReader reader = tiny();
  const std::vector<ClozeQuestion> questions = {
      {{"a", "strange", "b", "other", "c"}, {"b", "XXXXX"}},
      {{"new"}, {"XXXXX", "b", "d"}},
      {{"c", "d", "d", "a", "a", "a", "b"}, {"a", "XXXXX", "c", "d"}}};
  const std::vector<FoundWord> together = read_questions(reader, questions);
  ASSERT_EQ(together.size(), 3u);
  EXPECT_EQ(together[1].word, "new") << "a word that the vocabulary lacks";
  EXPECT_NEAR(together[1].probability, 1.0, 1e-6);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const FoundWord alone = read_questions(reader, {&questions[i], 1})[0];
    EXPECT_EQ(together[i].word, alone.word);
    EXPECT_NEAR(together[i].probability, alone.probability, 1e-6);
    EXPECT_THAT(questions[i].passage, testing::Contains(alone.word));
  }
  EXPECT_TRUE(read_questions(reader, {}).empty());
  const ClozeQuestion bad{{"a"}, {"b"}};
  EXPECT_THAT(error_message([&] {
                read_questions(reader, {&bad, 1});
              }),
              HasSubstr("[read] the text has a question without XXXXX"));
}

TEST(ClozeReader, FoldersHoldTheModel) {
  const TempDir dir;
  const ClozeReader reader = tiny();
  save_model(reader, dir.path());
  const ClozeReader loaded = load_cloze_reader(dir.path());
  const ClozeQuestion question{{"a", "c", "b", "d"}, {"a", "XXXXX"}};
  EXPECT_EQ(read_questions(loaded, {&question, 1})[0].probability,
            read_questions(reader, {&question, 1})[0].probability);
  EXPECT_TRUE(std::holds_alternative<ClozeReader>(load_model(dir.path(), PackedForm::f32)));
  EXPECT_THAT(error_message([&] { load_story_answerer(dir.path()); }),
              HasSubstr("a model for task \"read\" (reader), not for \"answer\""));
}

}  // namespace
}  // namespace heed::cloze_reader_test
