// How models without decoder read texts and pairs: special tokens, types, and what is cut.
#include "heed/generation/text_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/text/pipeline/hf_tokenizer.h"
#include "tests/generation/hf_encoder_folder.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"

namespace heed::text_reader_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::unique_ptr<HfTokenizer> words() {
  return HfTokenizer::parse(std::string(test::kWordTokenizer), "tokenizer.json");
}

TEST(TextReader, TheBeginTokenIsBeforeTexts) {
  const auto tokenizer = test::letters();
  const std::int32_t begin = tokenizer->special().begin;
  const auto ids = tokenizer->encode("ab");
  const auto read = [&](std::string_view text, std::int64_t longest) {
    return read_text(*tokenizer, TextFrame::begin, {text}, longest).ids;
  };
  EXPECT_THAT(read("ab", 9), ElementsAre(begin, ids[0], ids[1]));
  EXPECT_THAT(read("ab", 2), ElementsAre(begin, ids[0]));
  EXPECT_EQ(read_text(*tokenizer, TextFrame::special, {"ab"}, 9).ids, read("ab", 9))
      << "a tokenizer whose file has no special tokens for texts";
}

TEST(TextReader, SpecialTokensStayWhenTextsAreCut) {
  const auto tokenizer = words();
  const auto read = [&](std::string_view text, std::int64_t longest) {
    return read_text(*tokenizer, TextFrame::special, {text}, longest);
  };
  EXPECT_THAT(read("a dog runs", 100).ids, ElementsAre(3, 5, 6, 7, 4));
  EXPECT_THAT(read("a dog runs", 5).ids, ElementsAre(3, 5, 6, 7, 4));
  EXPECT_THAT(read("a dog runs", 4).ids, ElementsAre(3, 5, 6, 4));
  EXPECT_THAT(read("a dog runs", 2).ids, ElementsAre(3, 4));
  EXPECT_THAT(read("", 2).ids, ElementsAre(3, 4));
  EXPECT_THAT(read("a dog runs", 4).types, IsEmpty());
  EXPECT_THAT(error_message([&] { read("a", 1); }), HasSubstr("special tokens alone are 2"));
}

// The strategy "longest_first" of the package `tokenizers`.
TEST(TextReader, OfPairsTheLongerTextIsCut) {
  const auto tokenizer = words();
  const auto read = [&](std::string_view a, std::string_view b, std::int64_t longest) {
    return read_text(*tokenizer, TextFrame::special, {a, b}, longest);
  };
  const ReadText whole = read("a dog", "runs", 100);
  EXPECT_THAT(whole.ids, ElementsAre(3, 5, 6, 4, 7, 4));
  EXPECT_THAT(whole.types, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(read("a dog runs", "cat", 6).ids, ElementsAre(3, 5, 6, 4, 8, 4));
  EXPECT_THAT(read("cat", "a dog runs", 6).ids, ElementsAre(3, 8, 4, 5, 6, 4));
  EXPECT_THAT(read("a dog runs", "the cat sleeps", 6).ids, ElementsAre(3, 5, 4, 10, 8, 4));
  EXPECT_THAT(read("a dog runs the", "the cat sleeps", 6).ids, ElementsAre(3, 5, 6, 4, 10, 4));
  EXPECT_THAT(read("a dog", "runs", 3).ids, ElementsAre(3, 4, 4));
  EXPECT_THAT(read("a dog", "runs", 3).types, ElementsAre(0, 0, 1));
  EXPECT_THAT(error_message([&] { read("a", "a", 2); }), HasSubstr("special tokens alone are 3"));
  EXPECT_THAT(error_message([&] {
                read_text(*tokenizer, TextFrame::begin, {"a", "dog"}, 9);
              }),
              HasSubstr("a pair of texts"));
}

TEST(TextReader, BatchesArePadded) {
  const std::vector<ReadText> texts = {{{3, 5, 4}}, {{3, 4, 6, 7, 4}, {0, 0, 1, 1, 1}}};
  const TextBatch batch = batch_of(texts, 9);
  EXPECT_THAT(batch.ids.to_vector<std::int64_t>(), ElementsAre(3, 5, 4, 9, 9, 3, 4, 6, 7, 4));
  EXPECT_THAT(batch.lengths.to_vector<std::int64_t>(), ElementsAre(3, 5));
  EXPECT_THAT(batch.types.to_vector<std::int64_t>(), ElementsAre(0, 0, 0, 0, 0, 0, 0, 1, 1, 1));
  EXPECT_FALSE(batch_of({texts.data(), 1}, 9).types.defined());
}

}  // namespace
}  // namespace heed::text_reader_test
