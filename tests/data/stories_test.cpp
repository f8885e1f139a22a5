// Questions about stories from files: what lines say, what is wrong with them, and batches with and
// without noise.
#include "heed/data/stories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "heed/io/file.h"
#include "heed/text/words.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::stories_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string fault_of(std::string_view line, bool needs_answers = false) {
  const StoryParser::Step step = StoryParser(needs_answers).add(line);
  return step.fault ? step.fault->what : "";
}

TEST(Stories, LinesAreReadAsTheAuthorsWroteThem) {
  StoryParser parser;
  EXPECT_FALSE(parser.add("1 Mary moved to the bathroom.").asks);
  EXPECT_FALSE(parser.add("2 Yesterday, John left.\r").asks);
  const StoryParser::Step first = parser.add("3 Where is Mary? \tBathroom\t1");
  EXPECT_TRUE(first.asks);
  ASSERT_TRUE(first.question);
  ASSERT_EQ(first.question->sentences.size(), 2u);
  EXPECT_THAT(first.question->sentences[0], ElementsAre("mary", "moved", "to", "the", "bathroom"));
  EXPECT_THAT(first.question->sentences[1], ElementsAre("yesterday", "john", "left"));
  EXPECT_THAT(first.question->question, ElementsAre("where", "is", "mary"));
  EXPECT_EQ(first.question->answer, "bathroom");
  EXPECT_FALSE(first.question->continues);
  parser.add("4 Mary got the milk.");
  const StoryParser::Step second = parser.add("5 What is Mary carrying?\tmilk,football\t4 1");
  ASSERT_TRUE(second.question);
  EXPECT_EQ(second.question->sentences.size(), 3u) << "questions are no sentences of the story";
  EXPECT_EQ(second.question->answer, "milk,football");
  EXPECT_TRUE(second.question->continues);
  const StoryParser::Step open = parser.add("6 Where is Mary?");
  ASSERT_TRUE(open.question);
  EXPECT_EQ(open.question->answer, "") << "it is not said";
  EXPECT_TRUE(parser.add("7 Where is Mary\t").asks) << "a tab makes a question";
  parser.add("1 Sandra left.");
  EXPECT_EQ(parser.add("2 Who left?\tsandra").question->sentences.size(), 1u) << "a new story";
}

TEST(Stories, BadLinesSayWhy) {
  EXPECT_THAT(fault_of("Mary moved."), HasSubstr("begins without a number: lines are NUMBER"));
  EXPECT_THAT(fault_of("1 ."), HasSubstr("has no words"));
  EXPECT_THAT(fault_of("1 ?\tno"), HasSubstr("has a question without words"));
  EXPECT_THAT(fault_of("1 Where?\ta b"), HasSubstr("has an answer with spaces"));
  EXPECT_EQ(fault_of("1 Where?"), "");
  EXPECT_THAT(fault_of("1 Where?", true), HasSubstr("has a question without an answer"));
}

// Questions after a bad sentence may depend on it; those of the next story do not.
TEST(Stories, QuestionsAfterABadSentenceAreLeftOut) {
  StoryParser parser;
  parser.add("1 a b");
  EXPECT_TRUE(parser.add("2 c?\td").question);
  EXPECT_TRUE(parser.add("x").fault);
  const StoryParser::Step lost = parser.add("3 c?\td");
  EXPECT_TRUE(lost.asks);
  EXPECT_FALSE(lost.question || lost.fault);
  parser.add("1 e");
  EXPECT_TRUE(parser.add("2 f?\tg").question);
  EXPECT_TRUE(parser.add("3 f?\tg h").fault);
  EXPECT_TRUE(parser.add("4 f?\tg").question) << "a bad question harms no other";
}

class StoryFile : public testing::Test {
 protected:
  StoryFile() {
    io::write_file(dir_ / "f",
                   "1 a b c\n2 a ?\tyes\n3 d\n4 no answer ?\n5 b ?\tno\n1 e\n2 f\n3 a ?\tyes\n");
    TokenCounter counter;
    for (const char* word : {"a", "b", "c", "d", "e", "f", "yes", "no"}) counter.add(word);
    words_.emplace(counter.vocabulary());
    BadLines bad;
    read_stories(dir_ / "f", OnBad::skip, bad,
                 [&](const StoryQuestion& question) { corpus_.add(question, *words_); });
    EXPECT_EQ(bad.total(), 1);
  }
  TempDir dir_;
  std::optional<Words> words_;
  StoryCorpus corpus_;
};

TEST_F(StoryFile, SentencesAreStoredOnce) {
  BadLines bad;
  EXPECT_THAT(error_message(
                  [&] { read_stories(dir_ / "f", OnBad::stop, bad, [](const StoryQuestion&) {}); }),
              HasSubstr("f:4 has a question without an answer"));
  EXPECT_EQ(corpus_.size(), 3);
  EXPECT_EQ(corpus_.sentences.size(), 4);
  EXPECT_EQ(corpus_.memories[0].end, 1);
  EXPECT_EQ(corpus_.memories[1].begin, 0);
  EXPECT_EQ(corpus_.memories[1].end, 2);
  EXPECT_EQ(corpus_.memories[2].begin, 2);
  EXPECT_EQ(corpus_.first_of_story(1), 0);
  EXPECT_EQ(corpus_.first_of_story(2), 2);
  StoryCorpus part;
  part.append(corpus_, 2, 3);
  part.append(corpus_, 0, 2);
  EXPECT_EQ(part.size(), 3);
  EXPECT_EQ(part.memories[0].begin, 0);
  EXPECT_EQ(part.memories[2].begin, 2);
  EXPECT_EQ(part.memories[2].end, 4);
  EXPECT_TRUE(std::ranges::equal(part.sentences[3], corpus_.sentences[1]));
  EXPECT_EQ(part.answers[2], corpus_.answers[1]);
}

TEST_F(StoryFile, BatchesArePaddedAndForgetOldSentences) {
  const std::int64_t p = words_->special().padding;
  const auto id = [&](const char* word) { return words_->encode(word)[0]; };
  const StoryBatch batch =
      make_batch(corpus_, std::vector<std::int32_t>{1, 0}, {.max_sentences = 9});
  EXPECT_EQ(batch.sentences.shape(), (Shape{2, 2, 3}));
  EXPECT_THAT(
      batch.sentences.to_vector<std::int64_t>(),
      ElementsAre(id("a"), id("b"), id("c"), id("d"), p, p, id("a"), id("b"), id("c"), p, p, p));
  EXPECT_THAT(batch.ages.to_vector<std::int64_t>(), ElementsAre(2, 1, 1, 0));
  EXPECT_THAT(batch.answers.to_vector<std::int64_t>(), ElementsAre(id("no"), id("yes")));
  EXPECT_EQ(batch.word_count, 7);
  const StoryBatch last = make_batch(corpus_, std::vector<std::int32_t>{1}, {.max_sentences = 1});
  EXPECT_THAT(last.sentences.to_vector<std::int64_t>(), ElementsAre(id("d")));
  EXPECT_THAT(last.ages.to_vector<std::int64_t>(), ElementsAre(1));
}

TEST_F(StoryFile, StreamsReturnToAPosition) {
  const auto corpus = std::make_shared<const StoryCorpus>(corpus_);
  const StoryBatching how{.max_sentences = 4, .noise = 1.0, .seed = 3};
  StoryStream stream(corpus, how, {.batch_sentences = 1});
  StoryStream other(corpus, how, {.batch_sentences = 1});
  stream.next();
  other.seek(stream.position());
  for (int i = 0; i < 9; ++i) {
    const StoryBatch a = stream.next(), b = other.next();
    EXPECT_EQ(a.sentences.to_vector<std::int64_t>(), b.sentences.to_vector<std::int64_t>());
    EXPECT_EQ(a.ages.to_vector<std::int64_t>(), b.ages.to_vector<std::int64_t>());
  }
}

// Ages fall, are those of the config at most, and no age is impossible.
TEST(Stories, NoiseLeavesOutAges) {
  TokenCounter counter;
  counter.add("a");
  const Words words(counter.vocabulary());
  StoryCorpus corpus;
  corpus.add({.sentences = std::vector<std::vector<std::string>>(10, {"a"}), .question = {"a"}},
             words);
  std::set<std::int64_t> oldest;
  for (std::int64_t epoch = 0; epoch < 200; ++epoch) {
    const auto ages =
        make_batch(corpus, std::vector<std::int32_t>{0}, {.max_sentences = 12, .noise = 0.3}, epoch)
            .ages.to_vector<std::int64_t>();
    ASSERT_EQ(ages.size(), 10u);
    EXPECT_GE(ages.back(), 1);
    EXPECT_LE(ages.front(), 12);
    for (std::size_t i = 1; i < ages.size(); ++i) EXPECT_GE(ages[i - 1], ages[i]);
    oldest.insert(ages.front());
  }
  EXPECT_THAT(oldest, ElementsAre(10, 11, 12)) << "0 to 3 empty ones; 13 is not an age";
}

}  // namespace
}  // namespace heed::stories_test
