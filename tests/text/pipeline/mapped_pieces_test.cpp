// SentencePiece models with a list of ids.
#include "heed/text/pipeline/mapped_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "heed/text/pipeline/spm_file.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed::mapped_pieces_test {
namespace {

std::string small() { return io::read_file(test::golden_path("tokenizers/small.model"), 1 << 20); }

// The pieces in reverse order, with a language code and without the last one.
MappedPieces reversed() {
  const pipeline::SpmFile file = pipeline::SpmFile::parse(small(), "small");
  pipeline::TokenTable tokens;
  std::int32_t next = 0;
  for (std::size_t i = file.pieces.size(); i-- > 0;) tokens.add(file.pieces[i].text, next++);
  tokens.add(">>fra<<", next);
  return MappedPieces(small(), "small.model", std::move(tokens));
}

TEST(MappedPieces, MapsPieces) {
  const MappedPieces tokenizer = reversed();
  const SentencePiece plain(small());
  const std::int64_t last = tokenizer.size() - 2;  // the language code is after it
  std::vector<std::int32_t> expected;
  for (const std::int32_t id : plain.encode("the dog runs")) {
    expected.push_back(static_cast<std::int32_t>(last - id));
  }
  EXPECT_EQ(tokenizer.encode("the dog runs"), expected);
  EXPECT_EQ(tokenizer.decode(expected), "the dog runs");
  EXPECT_EQ(tokenizer.special().unknown, last);
  EXPECT_TRUE(tokenizer.begins_word(expected.front()));
  EXPECT_EQ(tokenizer.piece(static_cast<std::int32_t>(last)), "<unk>");
}

TEST(MappedPieces, KnowsLanguageCodes) {
  const MappedPieces tokenizer = reversed();
  const std::vector<std::int32_t> ids = tokenizer.encode(">>fra<< the");
  EXPECT_EQ(ids.front(), tokenizer.id_of(">>fra<<"));
  EXPECT_EQ(std::vector(ids.begin() + 1, ids.end()), tokenizer.encode("the"));
  EXPECT_NE(tokenizer.encode(">>xyz<< the").front(), ids.front());
}

TEST(MappedPieces, ItsFileGivesItAgain) {
  const MappedPieces tokenizer = reversed();
  const auto again = parse_tokenizer(tokenizer.files()[0].content, "again");
  EXPECT_EQ(again->kind(), "mapped_pieces");
  EXPECT_EQ(again->encode("the 狗"), tokenizer.encode("the 狗"));
  EXPECT_EQ(again->files()[0].content, tokenizer.files()[0].content);
  EXPECT_THAT(error_message([&] { tokenizer.piece(-1); }),
              testing::HasSubstr("there is no token -1"));
}

}  // namespace
}  // namespace heed::mapped_pieces_test
