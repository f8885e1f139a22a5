// Cloze questions from files: what lines say, what is wrong with them, and batches of passages of
// different lengths.
#include "heed/data/cloze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "heed/text/words.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::cloze_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What a parser says to the last of some lines.
ClozeParser::Step last_of(const std::vector<std::string>& lines) {
  ClozeParser parser;
  ClozeParser::Step step;
  for (const std::string& line : lines) step = parser.add(line);
  return step;
}

std::string fault_of(const std::vector<std::string>& lines) {
  const ClozeParser::Step step = last_of(lines);
  return step.fault ? step.fault->what : "";
}

TEST(Cloze, LinesAreReadAsTheAuthorsWroteThem) {
  ClozeParser parser;
  EXPECT_FALSE(parser.add("1 ||| 小 猫 有 耳朵 。").question);
  EXPECT_FALSE(parser.add("2 ||| 它 跑 。\r").question);
  const ClozeParser::Step step = parser.add("3 ||| 小 猫 有 “XXXXX。 ||| 耳朵");
  EXPECT_TRUE(step.asks);
  ASSERT_TRUE(step.question);
  EXPECT_THAT(step.question->passage,
              ElementsAre("小", "猫", "有", "耳朵", "。", "它", "跑", "。"));
  EXPECT_THAT(step.question->question, ElementsAre("小", "猫", "有", "“", "XXXXX", "。"));
  EXPECT_EQ(step.question->answer, "耳朵");
  EXPECT_FALSE(parser.add("").fault) << "between passages";
  EXPECT_FALSE(parser.finish());
  const ClozeParser::Step open = last_of({"1 ||| a b", "2 ||| XXXXX b |||"});
  ASSERT_TRUE(open.question);
  EXPECT_EQ(open.question->answer, "") << "it is not said";
}

TEST(Cloze, BadLinesSayWhy) {
  EXPECT_THAT(fault_of({"a dog runs"}), HasSubstr("has no number and 1 columns: lines are NUMBER"));
  EXPECT_THAT(fault_of({"1 ||| a ||| b ||| c"}), HasSubstr("has a number and 4 columns"));
  EXPECT_THAT(fault_of({"0 ||| a"}), HasSubstr("has no number"));
  EXPECT_EQ(fault_of({"1 ||| a b", "2 ||| c ||| a"}), "has a question without XXXXX, the blank");
  EXPECT_EQ(fault_of({"1 ||| a b", "2 ||| XXXXX ||| c"}),
            "has the answer \"c\", which is not a word of its passage");
  EXPECT_EQ(fault_of({"1 ||| a b", "2 ||| XXXXX ||| a b"}),
            "has the answer \"a b\", which is not a word of its passage");
  EXPECT_EQ(fault_of({"1 ||| XXXXX ||| a"}), "asks about a passage without words");
  EXPECT_THAT(fault_of({"1 ||| a", "1 ||| b"}), HasSubstr("leaves a passage without a question"));
  EXPECT_THAT(fault_of({"1 ||| a", ""}), HasSubstr("is empty"));
  ClozeParser parser;
  parser.add("1 ||| a");
  EXPECT_THAT(parser.finish()->what, HasSubstr("leaves a passage without a question"));
}

// A bad line costs its own question and no other.
TEST(Cloze, TheQuestionOfABadLineIsLeftOut) {
  ClozeParser parser;
  parser.add("1 ||| a");
  EXPECT_TRUE(parser.add("2 a").fault);
  EXPECT_FALSE(parser.add("3 ||| b").fault);
  const ClozeParser::Step lost = parser.add("4 ||| XXXXX ||| a");
  EXPECT_TRUE(lost.asks);
  EXPECT_FALSE(lost.question);
  EXPECT_FALSE(lost.fault) << "it was said once";
  parser.add("1 ||| b");
  EXPECT_TRUE(parser.add("2 ||| XXXXX ||| b").question);
  parser.add("x");
  parser.add("1 ||| c");
  EXPECT_TRUE(parser.add("2 ||| XXXXX ||| c").question) << "number 1 begins a passage";
}

TEST(Cloze, FilesAreReadWithAPolicy) {
  const TempDir dir;
  io::write_file(dir / "f",
                 "1 ||| a b\n2 ||| XXXXX ||| c\n1 ||| a b\n2 ||| XXXXX |||\n1 ||| a\n"
                 "2 ||| XXXXX ||| a\n1 ||| d\n");
  std::vector<std::string> answers;
  const auto read = [&](OnBad on_bad) {
    BadLines bad;
    read_cloze(dir / "f", on_bad, bad,
               [&](const ClozeQuestion& question) { answers.push_back(question.answer); });
    return bad.total();
  };
  EXPECT_THAT(error_message([&] { read(OnBad::stop); }), HasSubstr("f:2 has the answer \"c\""));
  EXPECT_EQ(read(OnBad::skip), 3);
  EXPECT_THAT(answers, ElementsAre("a"));
}

ClozeCorpus two(const Tokenizer& words) {
  ClozeCorpus corpus;
  corpus.add({{"a", "x", "x", "b", "y"}, {"XXXXX", "b"}, "x"}, words);
  corpus.add({{"b", "a"}, {"a", "XXXXX", "c"}, "b"}, words);
  return corpus;
}

TEST(Cloze, UnknownWordsAreDifferentCandidates) {
  TokenCounter counter;
  for (const char* word : {"a", "a", "b", "XXXXX"}) counter.add(word);
  const Words words(counter.vocabulary());
  const ClozeCorpus corpus = two(words);
  const std::int32_t unknown = words.special().unknown;
  EXPECT_EQ(corpus.passages[0][1], unknown);
  EXPECT_EQ(corpus.passages[0][4], unknown);
  EXPECT_THAT(corpus.candidates[0], ElementsAre(0, 1, 1, 2, 3));
  EXPECT_THAT(corpus.answers, ElementsAre(1, 0));
  const ClozeBatch batch = make_batch(corpus, std::vector<std::int32_t>{1, 0});
  EXPECT_EQ(batch.words.shape(), (Shape{2, 5}));
  EXPECT_THAT(batch.lengths.to_vector<std::int64_t>(), ElementsAre(2, 5));
  EXPECT_THAT(batch.question_lengths.to_vector<std::int64_t>(), ElementsAre(3, 2));
  EXPECT_THAT(batch.candidates.to_vector<std::int64_t>(),
              ElementsAre(0, 1, -1, -1, -1, 0, 1, 1, 2, 3));
  EXPECT_THAT(batch.answers.to_vector<std::int64_t>(), ElementsAre(0, 1));
  EXPECT_EQ(batch.words.to_vector<std::int64_t>()[2], words.special().padding);
  EXPECT_EQ(batch.word_count, 7);
}

TEST(Cloze, StreamsReturnToAPosition) {
  TokenCounter counter;
  counter.add("a");
  const auto corpus = std::make_shared<const ClozeCorpus>(two(Words(counter.vocabulary())));
  ClozeStream stream(corpus, {.batch_sentences = 1}), other(corpus, {.batch_sentences = 1});
  stream.next();
  other.seek(stream.position());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(stream.next().words.to_vector<std::int64_t>(),
              other.next().words.to_vector<std::int64_t>());
  }
}

}  // namespace
}  // namespace heed::cloze_test
