// Packed texts: the tokens of the text file, and clear refusals of damaged files.
#include "heed/data/packed_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "heed/data/packed_text_writer.h"
#include "heed/data/token_stream.h"
#include "heed/io/file.h"
#include "heed/text/characters.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::string_view kLetters = "abcdefghij klmnop\n";

std::shared_ptr<const Tokenizer> characters() {
  return std::make_shared<Characters>(count_characters(kLetters));
}

// A text of lines of all letters; some are empty.
void write_lines(const fs::path& path, int lines) {
  std::ofstream file(path);
  for (int i = 0; i < lines; ++i) {
    for (int k = 0; k < i * 7 % 23; ++k) file << kLetters[static_cast<std::size_t>(i + k) % 17];
    file << '\n';
  }
}

// Three blocks of 32 tokens a file.
TextPackingOptions small() { return {.file_tokens = 96, .block_tokens = 32}; }

std::string change_byte(const fs::path& path, std::size_t at) {
  std::string bytes = io::read_file(path, 1 << 20);
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ 0x55);
  io::write_file(path, bytes);
  return bytes;
}

TEST(PackedText, HasTheTokensOfTheText) {
  const TempDir dir;
  write_lines(dir / "text", 60);
  const auto letters = characters();
  const TextPackingReport report = pack_text(dir / "text", *letters, dir / "packed", small());
  const TokenStream expected = read_tokens(dir / "text", *letters);
  EXPECT_EQ(report.lines, 60);
  EXPECT_EQ(report.tokens, expected.size());
  const auto text = std::make_shared<const PackedText>(dir / "packed");
  EXPECT_GT(text->info().checksums.size(), 3u) << "several files";
  const TokenStream packed(text);
  ASSERT_EQ(packed.size(), expected.size());
  for (std::int64_t first = 0; first < packed.size(); first += 13) {
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{150}}) {
      const auto n = static_cast<std::size_t>(std::min(count, packed.size() - first));
      std::vector<std::int32_t> a(n), b(n);
      packed.read(first, a);
      expected.read(first, b);
      EXPECT_EQ(a, b) << n << " from " << first;
    }
  }
  EXPECT_TRUE(is_packed_text(dir / "packed"));
  pack_text(dir / "text", *letters, dir / "one");
  EXPECT_EQ(PackedText(dir / "one").size(), expected.size()) << "less than a block";
  EXPECT_FALSE(is_packed_text(dir / "text"));
}

TEST(PackedText, HasTheBlocksOfTheText) {
  const TempDir dir;
  write_lines(dir / "text", 60);
  const auto letters = characters();
  pack_text(dir / "text", *letters, dir / "packed", small());
  const auto [a, held_a] = read_tokens(dir / "text", *letters).split(0.2);
  const auto [b, held_b] =
      TokenStream(std::make_shared<const PackedText>(dir / "packed")).split(0.2);
  for (std::int64_t update = 0; update < 5; ++update) {
    const TokenBlocks x = a.random_blocks({.rows = 4, .length = 40}, 3, update);
    const TokenBlocks y = b.random_blocks({.rows = 4, .length = 40}, 3, update);
    EXPECT_EQ(x.tokens.to_vector<std::int64_t>(), y.tokens.to_vector<std::int64_t>());
    EXPECT_EQ(x.expected.to_vector<std::int64_t>(), y.expected.to_vector<std::int64_t>());
  }
  ASSERT_EQ(held_a.size(), held_b.size());
  const TokenBlocks x = held_a.blocks({.rows = 9, .length = 11}, 0);
  const TokenBlocks y = held_b.blocks({.rows = 9, .length = 11}, 0);
  EXPECT_EQ(x.tokens.to_vector<std::int64_t>(), y.tokens.to_vector<std::int64_t>());
}

TEST(PackedText, ADamagedBlockIsNamedWhenItIsRead) {
  const TempDir dir;
  write_lines(dir / "text", 60);
  pack_text(dir / "text", *characters(), dir / "packed", small());
  change_byte(dir / "packed" / packed_text_name(1), PackedTextLayout::kHeaderBytes + 40 * 2);
  const PackedText text(dir / "packed");
  std::vector<std::int32_t> tokens(20);
  text.read(0, tokens);
  EXPECT_THAT(error_message([&] { text.read(96 + 30, tokens); }),
              HasSubstr("tokens-00001.bin: the tokens of block 1 (byte 112) are damaged"));
  EXPECT_THAT(error_message([&] { text.check([] {}); }), HasSubstr("damaged"));
}

TEST(PackedText, OtherFilesAreRefused) {
  const TempDir dir;
  write_lines(dir / "text", 60);
  const auto letters = characters();
  pack_text(dir / "text", *letters, dir / "packed", small());
  const fs::path file = dir / "packed" / packed_text_name(0);
  const std::string good = io::read_file(file, 1 << 20);
  for (std::size_t at = 0; at < PackedTextLayout::kHeaderBytes; ++at) {
    change_byte(file, at);
    EXPECT_THROW(PackedText(dir / "packed"), Error) << "byte " << at;
    io::write_file(file, good);
  }
  change_byte(file, good.size() - 1);
  EXPECT_THAT(error_message([&] { PackedText(dir / "packed"); }),
              HasSubstr("the checksum of the index is wrong"));
  for (const std::size_t size : {std::size_t{0}, std::size_t{20}, good.size() - 8}) {
    io::write_file(file, good.substr(0, size));
    EXPECT_THROW(PackedText(dir / "packed"), Error) << size << " bytes";
  }
  fs::remove(file);
  EXPECT_THROW(PackedText(dir / "packed"), Error);
  EXPECT_THAT(error_message([&] { PackedText(dir / "nothing"); }),
              HasSubstr("heed corpus pack --task language"));
}

}  // namespace
}  // namespace heed
