// Answers about stories: any company, texts as stories, folders.
#include "heed/generation/story_answerer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/model_folder.h"
#include "heed/models/memory_network.h"
#include "heed/text/words.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::story_answerer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StoryAnswerer tiny() {
  TokenCounter counter;
  for (const char* word : {"mary", "is", "here", "there", "where"}) counter.add(word);
  const auto words = std::make_shared<Words>(counter.vocabulary());
  Generator generator(4);
  auto model =
      std::make_unique<MemoryNetwork>(MemoryNetworkConfig{.vocabulary = words->size(),
                                                          .padding = words->special().padding,
                                                          .embed = 5,
                                                          .hops = 2,
                                                          .sentences = 3,
                                                          .init_deviation = 1.0},
                                      generator);
  model->eval();
  return {std::move(model), words};
}

TEST(StoryAnswerer, TextsAreStories) {
  const StoryQuestion story = parse_story("Mary is here. She left!\nWhere is Mary?");
  ASSERT_EQ(story.sentences.size(), 2u);
  EXPECT_THAT(story.sentences[1], ElementsAre("she", "left"));
  EXPECT_THAT(story.question, ElementsAre("where", "is", "mary"));
  EXPECT_TRUE(parse_story("Where").sentences.empty());
  EXPECT_THAT(error_message([] { parse_story(" . "); }), HasSubstr("the text has no words"));
}

TEST(StoryAnswerer, AnswersDoNotDependOnCompany) {
  const StoryAnswerer answerer = tiny();
  const std::vector<StoryQuestion> questions = {
      parse_story("Mary is here. Where is Mary?"), parse_story("Where?"),
      parse_story("Mary. Mary is there. Mary is here. Here here. Where is Mary?")};
  const std::vector<StoryAnswer> together = answer_questions(answerer, questions);
  ASSERT_EQ(together.size(), 3u);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const StoryAnswer alone = answer_questions(answerer, {&questions[i], 1})[0];
    EXPECT_EQ(together[i].answer, alone.answer);
    EXPECT_NEAR(together[i].probability, alone.probability, 1e-6);
  }
  EXPECT_NE(together[0].probability, together[1].probability) << "the story matters";
  const StoryQuestion recent =
      parse_story("Mary is there. Mary is here. Here here. Where is Mary?");
  EXPECT_EQ(answer_questions(answerer, {&recent, 1})[0].probability,
            answer_questions(answerer, {&questions[2], 1})[0].probability)
      << "sentences before the last three are forgotten";
  const StoryQuestion bad;
  EXPECT_THAT(error_message([&] {
                answer_questions(answerer, {&bad, 1});
              }),
              HasSubstr("the question has no words"));
}

TEST(StoryAnswerer, FoldersHoldTheModel) {
  const TempDir dir;
  const StoryAnswerer answerer = tiny();
  save_model(answerer, dir.path());
  const StoryAnswerer loaded = load_story_answerer(dir.path());
  const StoryQuestion question = parse_story("Mary is here. Where is Mary?");
  EXPECT_EQ(answer_questions(loaded, {&question, 1})[0].probability,
            answer_questions(answerer, {&question, 1})[0].probability);
  EXPECT_TRUE(std::holds_alternative<StoryAnswerer>(load_model(dir.path(), PackedForm::f32)));
  EXPECT_THAT(error_message([&] { load_cloze_reader(dir.path()); }),
              HasSubstr("a model for task \"answer\" (memory_network), not for \"read\""));
}

}  // namespace
}  // namespace heed::story_answerer_test
