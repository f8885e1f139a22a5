// Vocabularies of a run: made of words, characters or pieces, shared or not, or read from files.
#include "heed/training/vocabularies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::HasSubstr;

class VocabulariesTest : public testing::Test {
 protected:
  VocabulariesTest() {
    io::write_file(dir_ / "s", "a dog runs\na cat runs\n");
    io::write_file(dir_ / "t", "ein hund rennt\neine katze rennt\n");
    io::write_file(dir_ / "table", "a dog runs\tein hund rennt\na cat runs\teine katze rennt\n");
    io::write_file(dir_ / "labelled", "joy\ta dog runs\nwoe\ta cat runs\n");
    config_.train_sets = {(dir_ / "s").string(), (dir_ / "t").string()};
    config_.vocabulary = {.kind = VocabularyKind::words, .size = 0};
  }
  static bool knows(const Tokenizer& tokenizer, std::string_view text) {
    for (const std::int32_t id : tokenizer.encode(text)) {
      if (id == tokenizer.special().unknown) return false;
    }
    return true;
  }
  TempDir dir_;
  TrainConfig config_;
};

TEST_F(VocabulariesTest, OneForBothSides) {
  const TokenizerPair made = make_tokenizers(config_);
  EXPECT_EQ(made.source, made.target);
  EXPECT_EQ(made.source->kind(), "words");
  EXPECT_EQ(made.source->size(), 4 + 4 + 5);
  EXPECT_TRUE(knows(*made.source, "a dog rennt"));
}

TEST_F(VocabulariesTest, OneForEachSide) {
  config_.vocabulary.shared = false;
  const TokenizerPair made = make_tokenizers(config_);
  EXPECT_NE(made.source, made.target);
  EXPECT_TRUE(knows(*made.source, "a dog"));
  EXPECT_FALSE(knows(*made.source, "hund"));
  EXPECT_TRUE(knows(*made.target, "ein hund"));
  EXPECT_FALSE(knows(*made.target, "dog"));
}

TEST_F(VocabulariesTest, RareWordsAreUnknown) {
  config_.vocabulary.min_count = 2;
  const TokenizerPair made = make_tokenizers(config_);
  EXPECT_TRUE(knows(*made.source, "a runs rennt"));
  EXPECT_FALSE(knows(*made.source, "dog"));
}

// A table gives what its columns as files give.
TEST_F(VocabulariesTest, ColumnsAreLikeFiles) {
  for (const VocabularyKind kind :
       {VocabularyKind::words, VocabularyKind::characters, VocabularyKind::sentencepiece}) {
    for (const bool shared : {true, false}) {
      // Each side alone is too little text for pieces.
      if (!shared && kind == VocabularyKind::sentencepiece) continue;
      config_.vocabulary.kind = kind;
      config_.vocabulary.shared = shared;
      config_.vocabulary.size = kind == VocabularyKind::sentencepiece ? 22 : 0;
      const TokenizerPair files = make_tokenizers(config_);
      TrainConfig table = config_;
      table.train_sets = {(dir_ / "table").string()};
      const TokenizerPair columns = make_tokenizers(table);
      EXPECT_EQ(columns.source == columns.target, shared);
      EXPECT_EQ(columns.source->files()[0].content, files.source->files()[0].content);
      EXPECT_EQ(columns.target->files()[0].content, files.target->files()[0].content);
    }
  }
}

TEST_F(VocabulariesTest, CharactersAndPieces) {
  config_.vocabulary.kind = VocabularyKind::characters;
  EXPECT_EQ(make_tokenizers(config_).source->kind(), "characters");
  EXPECT_TRUE(knows(*make_tokenizers(config_).source, "dog\n"));
  config_.vocabulary = {.kind = VocabularyKind::sentencepiece, .size = 24};
  const TokenizerPair made = make_tokenizers(config_);
  EXPECT_EQ(made.source->kind(), "sentencepiece");
  EXPECT_EQ(made.source->size(), 24);
  EXPECT_EQ(made.source->decode(made.source->encode("a cat runs")), "a cat runs");
}

// The usual rule turns a Chinese comma into another character.
TEST_F(VocabulariesTest, TextStaysAsItIsIfTold) {
  io::write_file(dir_ / "s", "你好，世界\n");
  config_.vocabulary = {.kind = VocabularyKind::sentencepiece, .size = 22};
  const auto comma = [&] {
    const auto made = make_tokenizers(config_).source;
    return made->decode(made->encode("你好，世界"));
  };
  EXPECT_EQ(comma(), "你好,世界");
  config_.vocabulary.normalization = PieceNormalization::identity;
  EXPECT_EQ(comma(), "你好，世界");
}

TEST_F(VocabulariesTest, ReadsThoseGiven) {
  save_tokenizer(*test::letters(), dir_ / "v");
  save_tokenizer(*test::words("x y"), dir_ / "w");
  config_.vocabs = {(dir_ / "v").string()};
  const TokenizerPair one = make_tokenizers(config_);
  EXPECT_EQ(one.source, one.target);
  EXPECT_EQ(one.source->kind(), "characters");
  config_.vocabs.push_back((dir_ / "w").string());
  const TokenizerPair two = make_tokenizers(config_);
  EXPECT_EQ(two.source->kind(), "characters");
  EXPECT_EQ(two.target->kind(), "words");
  config_.vocabs[1] = config_.vocabs[0];
  const TokenizerPair same = make_tokenizers(config_);
  EXPECT_EQ(same.source, same.target);
  config_.vocabs = {(dir_ / "none").string()};
  EXPECT_THAT(error_message([&] { make_tokenizers(config_); }), HasSubstr("none"));
}

TEST_F(VocabulariesTest, TheTaskReadsTheTextsOfItsSet) {
  config_.train_sets = {(dir_ / "labelled").string()};
  const auto made = make_tokenizer(config_, [](const std::filesystem::path& path) {
    return std::vector<std::string>{"a dog", path.filename().string()};
  });
  EXPECT_TRUE(knows(*made, "a dog labelled"));
  EXPECT_FALSE(knows(*made, "joy"));
  EXPECT_EQ(made->size(), 4 + 3);
}

TEST_F(VocabulariesTest, ALanguageModelReadsLineEnds) {
  config_.task = Task::language;
  config_.vocabulary.kind = VocabularyKind::characters;
  config_.train_sets = {(dir_ / "s").string()};
  EXPECT_TRUE(knows(*make_tokenizer(config_), "cat\ndog"));
}

}  // namespace
}  // namespace heed
