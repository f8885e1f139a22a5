// Labelled text: labels, cutting, bad lines, batches.
#include "heed/data/labelled_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/data/letters.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LabelledText : public testing::Test {
 protected:
  LabelledCorpus read(const std::string& lines, const LabelledOptions& options = {}) {
    io::write_file(folder_ / "text", lines);
    return read_labelled(folder_ / "text", letters_, options);
  }
  TempDir folder_;
  test::Letters letters_;
};

TEST_F(LabelledText, NumbersLabelsBySortedName) {
  const LabelledCorpus corpus = read("sad\tno\nhappy\tyes yes\nsad\to\n");
  EXPECT_THAT(corpus.names, ElementsAre("happy", "sad"));
  EXPECT_THAT(corpus.labels, ElementsAre(1, 0, 1));
  EXPECT_EQ(corpus.size(), 3);
  EXPECT_EQ(letters_.decode(corpus.texts[1]), "yes yes");
  EXPECT_EQ(corpus.texts[2][0], letters_.special().begin);
}

TEST_F(LabelledText, KeepsTheLabelsGiven) {
  const LabelledCorpus corpus = read("b\tx\n", {.labels = {"c", "b", "a"}});
  EXPECT_THAT(corpus.names, ElementsAre("c", "b", "a"));
  EXPECT_THAT(corpus.labels, ElementsAre(1));
  EXPECT_THAT(error_message([&] { read("b\tx\nd\ty\n", {.labels = {"b"}}); }),
              HasSubstr("text:2 has the unknown label \"d\""));
}

TEST_F(LabelledText, AByteOrderMarkIsNoPartOfALabel) {
  const LabelledCorpus corpus = read(
      "\xEF\xBB\xBF"
      "sad\tno\nsad\to\n");
  EXPECT_THAT(corpus.names, ElementsAre("sad"));
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "b\tx\n",
                 {.labels = {"b"}})
                .size(),
            1);
}

TEST_F(LabelledText, CutsLongTexts) {
  const LabelledCorpus corpus = read("a\txyxy\na\txy\n", {.max_length = 3, .begin = false});
  EXPECT_EQ(letters_.decode(corpus.texts[0]), "xyx");
  EXPECT_EQ(letters_.decode(corpus.texts[1]), "xy");
  EXPECT_EQ(corpus.cut, 1);
}

TEST_F(LabelledText, NamesOrSkipsBadLines) {
  EXPECT_THAT(error_message([&] { read("a\tx\nno tab\n"); }),
              HasSubstr("text:2 has no label and tab"));
  EXPECT_THAT(error_message([&] { read("a\tx\n\ty\n"); }), HasSubstr("text:2 has no label"));
  EXPECT_THAT(error_message([&] { read("a\t \n"); }), HasSubstr("text:1 is empty"));
  const LabelledCorpus corpus = read("a\tx\nno tab\nb\t\xFF\nc\ty\n", {.on_bad = OnBad::skip});
  EXPECT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.bad.total(), 2);
  EXPECT_THAT(corpus.names, ElementsAre("a", "c")) << "a bad line's label does not count";
}

TEST_F(LabelledText, MakesBatches) {
  const LabelledCorpus corpus = read("a\tx\nb\txy\n", {.begin = false});
  const std::int32_t chosen[] = {1, 0};
  const LabelledBatch batch = make_batch(corpus, chosen);
  EXPECT_THAT(batch.tokens.values<std::int64_t>(),
              ElementsAre('x' + 4, 'y' + 4, 'x' + 4, letters_.special().padding));
  EXPECT_THAT(batch.lengths.values<std::int64_t>(), ElementsAre(2, 1));
  EXPECT_THAT(batch.labels.values<std::int64_t>(), ElementsAre(1, 0));
  EXPECT_EQ(batch.token_count, 3);
}

TEST_F(LabelledText, Streams) {
  auto corpus = std::make_shared<LabelledCorpus>(read("a\tx\nb\txy\na\txyx\n"));
  LabelledStream stream(corpus, {.batch_sentences = 2});
  EXPECT_EQ(stream.epoch_batches(), 2);
  std::int64_t rows = 0;
  do {
    rows += stream.next().labels.numel();
  } while (stream.position().batch != 0);
  EXPECT_EQ(rows, 3);
  EXPECT_THAT(error_message([] {
                LabelledStream(std::make_shared<LabelledCorpus>(), {.batch_sentences = 2});
              }),
              HasSubstr("nothing to read"));
}

}  // namespace
}  // namespace heed
