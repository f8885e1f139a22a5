// Files of packed corpora: every byte that is damaged is noticed before it is used.
#include "heed/data/packed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/data/packed_corpus.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kPairs = 20;

struct SmallFile {
  TempDir folder;
  std::string bytes;
  PackedVocabularies sizes;

  SmallFile() {
    const auto packed = test::packed_corpus(folder / "c", kPairs, 8, 1 << 20);
    bytes = io::read_file(packed / packed_name(0), 1 << 20);
    const std::int64_t words = test::number_words(kPairs)->size();
    sizes = {.source = words, .target = words};
  }
};

// Opens a file and reads everything in it; the number of tokens.
std::int64_t read_all(std::string_view bytes, const PackedVocabularies& sizes) {
  const PackedFile file(std::as_bytes(std::span(bytes)), "file", sizes);
  std::int64_t tokens = 0;
  for (std::int64_t block = 0; block < file.blocks(); ++block) {
    std::vector<PairLength> lengths;
    file.read_lengths(block, lengths);
    file.check_tokens(block);
    for (const PairLength& length : lengths) tokens += length.source + length.target;
  }
  return tokens;
}

TEST(PackedCorpusFile, HasTheBlocksThatWereWritten) {
  const SmallFile small;
  const PackedFile file(std::as_bytes(std::span(small.bytes)), "file", small.sizes);
  EXPECT_EQ(file.pairs(), kPairs);
  EXPECT_EQ(file.blocks(), 3);
  EXPECT_EQ(file.pairs_of(0), 8);
  EXPECT_EQ(file.pairs_of(2), 4);
  std::vector<PairLength> lengths;
  file.read_lengths(1, lengths);
  ASSERT_EQ(lengths.size(), 8u);
  std::vector<std::int32_t> tokens;
  file.check_tokens(1);
  file.read_tokens(1, 0, lengths[0].source, tokens);
  EXPECT_EQ(test::number_words(kPairs)->decode({tokens.data(), 1}), "1008") << "the ninth pair";
}

TEST(PackedCorpusFile, NoticesEveryDamagedByte) {
  const SmallFile small;
  const std::int64_t tokens = read_all(small.bytes, small.sizes);
  EXPECT_GT(tokens, 2 * kPairs);
  int unused = 0;
  for (std::size_t i = 0; i < small.bytes.size(); ++i) {
    std::string damaged = small.bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    const std::string message = error_message([&] { read_all(damaged, small.sizes); });
    if (message == "(no error)") {
      ++unused;
      EXPECT_EQ(small.bytes[i], 0) << "byte " << i << " is not only a filling";
    } else {
      EXPECT_THAT(message, HasSubstr("[packed] file"));
    }
  }
  EXPECT_LT(unused, 3 * 8) << "only zeros between blocks are not checked";
}

TEST(PackedCorpusFile, NoticesWhereItIsCutOff) {
  const SmallFile small;
  for (std::size_t size = 0; size < small.bytes.size(); ++size) {
    EXPECT_NE(error_message([&] { read_all(small.bytes.substr(0, size), small.sizes); }),
              "(no error)");
  }
  EXPECT_NE(error_message([&] { read_all(small.bytes + '\0', small.sizes); }), "(no error)");
}

TEST(PackedCorpusFile, RefusesTokensThatTheVocabularyLacks) {
  const SmallFile small;
  PackedVocabularies fewer = small.sizes;
  fewer.source -= 5;
  EXPECT_THAT(error_message([&] { read_all(small.bytes, fewer); }),
              HasSubstr("the file belongs to another corpus"));
  EXPECT_THAT(error_message([&] { read_all(small.bytes, {.source = 70000, .target = 10}); }),
              HasSubstr("tokens of 2 bytes, and the vocabularies need 4"));
}

TEST(PackedCorpusFile, SaysWhatItCannotRead) {
  const SmallFile small;
  std::string other = small.bytes;
  other[0] = 'X';
  EXPECT_THAT(error_message([&] { read_all(other, small.sizes); }),
              HasSubstr("byte 0: this is not a file of a packed corpus"));
  other = small.bytes;
  other[8] = 9;
  EXPECT_THAT(error_message([&] { read_all(other, small.sizes); }),
              HasSubstr("version 9: this heed reads version 1; pack the corpus again"));
}

}  // namespace
}  // namespace heed
