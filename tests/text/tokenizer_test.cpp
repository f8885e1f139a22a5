// Files of tokenizers: the kind is told by the content, saving and loading give the same, and what
// is no tokenizer is named. Words of sentences of tokens.
#include "heed/text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/io/file.h"
#include "heed/text/characters.h"
#include "heed/text/sentence_piece.h"
#include "heed/text/sentence_piece_training.h"
#include "heed/text/subword_nmt.h"
#include "heed/text/words.h"
#include "tests/support/error_message.h"
#include "tests/support/gzip.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::unique_ptr<Tokenizer>> one_of_each() {
  const Vocabulary vocabulary({{"lo@@", 3}, {"w", 2}, {"狗", 1}});
  const std::vector<std::string> text = {"low low 狗", "the low dog"};
  std::vector<std::unique_ptr<Tokenizer>> all;
  all.push_back(std::make_unique<Words>(vocabulary));
  all.push_back(std::make_unique<Characters>(count_characters("low 狗\n")));
  all.push_back(std::make_unique<SubwordNmt>(BpeCodes::parse("#version: 0.2\nl o\n", "codes"),
                                             vocabulary, SubwordNmtOptions{.threshold = 1}));
  all.push_back(std::make_unique<SentencePiece>(
      train_sentence_piece(text, {.size = 14, .character_coverage = 1.0})));
  return all;
}

TEST(Tokenizer, EveryKindIsSavedAndLoaded) {
  const TempDir folder;
  for (const auto& tokenizer : one_of_each()) {
    save_tokenizer(*tokenizer, folder / "file");
    const auto again = load_tokenizer(folder / "file");
    EXPECT_EQ(typeid(*again), typeid(*tokenizer));
    EXPECT_EQ(again->files()[0].content, tokenizer->files()[0].content);
    EXPECT_EQ(again->special(), tokenizer->special());
    for (const char* text : {"low 狗", "low\n", "", "unknown \xff"}) {
      EXPECT_EQ(again->encode(text), tokenizer->encode(text));
    }
    io::write_file(folder / "file.gz", test::gzip(tokenizer->files()[0].content));
    EXPECT_EQ(typeid(*load_tokenizer(folder / "file.gz")), typeid(*tokenizer));
  }
}

TEST(Tokenizer, EveryKindHasAName) {
  std::vector<std::string_view> kinds;
  const auto all = one_of_each();
  for (const auto& tokenizer : all) kinds.push_back(tokenizer->kind());
  EXPECT_THAT(kinds, ElementsAre("words", "characters", "subword_nmt", "sentencepiece"));
}

TEST(Tokenizer, EveryKindKeepsTheContract) {
  for (const auto& tokenizer : one_of_each()) {
    const SpecialTokens special = tokenizer->special();
    EXPECT_THAT(tokenizer->encode(""), IsEmpty());
    EXPECT_EQ(tokenizer->decode(std::vector{special.begin, special.end, special.padding}), "");
    for (const std::int32_t id : tokenizer->encode("<s> </s> <pad> low \xc3 \xf0\x9f")) {
      EXPECT_TRUE(id >= 0 && id < tokenizer->size());
      EXPECT_TRUE(id != special.begin && id != special.end && id != special.padding);
    }
    for (std::int32_t id = 0; id < tokenizer->size(); ++id) {
      EXPECT_FALSE(tokenizer->piece(id).empty());
    }
    for (const std::int32_t id : {-1, static_cast<std::int32_t>(tokenizer->size())}) {
      EXPECT_THROW(tokenizer->piece(id), Error);
      EXPECT_THROW(tokenizer->decode(std::vector{id}), Error);
    }
  }
}

TEST(Tokenizer, AListOfWordsIsWords) {
  const auto tokenizer = parse_tokenizer("the 5\nwor@@ 3\nld 2\n", "dict.txt");
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("the wor@@ ld")), "the world");
  EXPECT_EQ(parse_tokenizer("{\nthe\n", "list")->size(), 6) << "a brace may be a word";
}

TEST(Tokenizer, AByteOrderMarkIsNoPartOfAFile) {
  const TempDir folder;
  const std::string mark = "\xEF\xBB\xBF";
  for (const std::string& text : {std::string("the 5\ndog 3\n"), std::string("the\ndog\n"),
                                  parse_tokenizer("the\ndog\n", "list")->files()[0].content}) {
    io::write_file(folder / "file", mark + text);
    const auto tokenizer = load_tokenizer(folder / "file");
    EXPECT_EQ(tokenizer->size(), 6);
    EXPECT_EQ(tokenizer->piece(4), "the");
  }
}

TEST(Tokenizer, SaysWhatAFileIsNot) {
  const TempDir folder;
  const auto error_of = [&](const std::string& content) {
    io::write_file(folder / "file", content);
    const std::string message = error_message([&] { load_tokenizer(folder / "file"); });
    EXPECT_THAT(message, HasSubstr((folder / "file").string()));
    return message;
  };
  EXPECT_THAT(error_of("#version: 0.2\na b\n"),
              AllOf(HasSubstr("BPE codes"), HasSubstr("convert")));
  EXPECT_THAT(error_of("{\n  \"version\": \"1.0\",\n \"model\": {}\n}"), HasSubstr("is JSON"));
  EXPECT_THAT(error_of("{\"a\": 1}"), HasSubstr("is JSON"));
  EXPECT_THAT(error_of(std::string("PK\3\4\0\0binary", 12)), HasSubstr("neither"));
  EXPECT_THAT(error_of("caf\xe9\n"), HasSubstr("neither"));
  EXPECT_THAT(error_of("\n\n"), HasSubstr("not a SentencePiece model"));
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("two words here\n"), HasSubstr("file:1: "));
  EXPECT_THAT(error_message([&] { load_tokenizer(folder / "none"); }), HasSubstr("No such file"));
  EXPECT_THAT(error_message([&] { load_tokenizer(folder.path()); }), HasSubstr("directory"));
}

TEST(Tokenizer, SavingIsWholeOrNot) {
  const TempDir folder;
  const Words words(Vocabulary({{"a", 1}}));
  EXPECT_THROW(save_tokenizer(words, folder / "no" / "folder"), Error);
  save_tokenizer(words, folder / "file");
  EXPECT_THAT(folder.names(), ElementsAre("file"));
}

TEST(Tokenizer, WordsLeaveSpecialTokensOut) {
  const Words words(Vocabulary({{"lo@@", 1}, {"w", 1}}));
  EXPECT_THAT(word_spans(words, std::vector{1, 4, 5, 5, 2, 3}),
              ElementsAre(WordSpan{1, 3}, WordSpan{3, 4}));
  EXPECT_THAT(word_spans(words, std::vector{0, 4, 2}), ElementsAre(WordSpan{0, 1}, WordSpan{1, 2}));
  EXPECT_THAT(word_spans(words, std::vector<std::int32_t>{}), IsEmpty());
}

TEST(Tokenizer, ReadsTheListOfBert) {
  const auto path = test::shared_data("models/bert-base-uncased-vocab/vocab.txt.gz");
  HEED_NEED_SHARED_DATA(path);
  EXPECT_EQ(load_tokenizer(path)->size(), 30522 + 4);
}

}  // namespace
}  // namespace heed
