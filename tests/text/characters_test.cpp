// Characters as tokens: every byte comes back.
#include "heed/text/characters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Characters, EveryByteComesBack) {
  const std::string text = "First line,\r\n\n  狗🙂\te\u0301  \n";
  const Characters characters(count_characters(text));
  EXPECT_EQ(characters.decode(characters.encode(text)), text);
  EXPECT_EQ(characters.encode("狗🙂").size(), 2u);
  EXPECT_TRUE(characters.encode("").empty());
  const std::string_view null("\0", 1);
  const Characters with_null(count_characters(null));
  EXPECT_EQ(with_null.decode(with_null.encode(null)), null);
}

TEST(Characters, WhatIsNotThereIsUnknown) {
  const Characters characters(count_characters("ab"));
  EXPECT_THAT(characters.encode("a\xffz"), ElementsAre(4, 0, 0));
  EXPECT_EQ(characters.decode(std::vector{1, 4, 0, 5, 2, 3}), "a\uFFFDb");
  EXPECT_THAT(error_message([&] { characters.decode(std::vector{6}); }), HasSubstr("no token 6"));
}

TEST(Characters, ShowsWhiteSpace) {
  const Characters characters(count_characters(" \n\t\r狗"));
  std::vector<std::string> pieces;
  for (const int id : characters.encode(" \n\t\r狗")) pieces.push_back(characters.piece(id));
  EXPECT_THAT(pieces, ElementsAre("␣", "\\n", "\\t", "\\r", "狗"));
  EXPECT_EQ(characters.piece(0), "<unk>");
  EXPECT_THAT(word_spans(characters, characters.encode("狗狗 狗")),
              ElementsAre(WordSpan{0, 2}, WordSpan{2, 4}));
}

TEST(Characters, ReadsBackFromItsFile) {
  const Characters characters(count_characters("a\n\"\\\u2028 狗🙂"));
  const auto files = characters.files();
  const auto again = parse_tokenizer(files[0].content, "file");
  const auto& same = dynamic_cast<const Characters&>(*again);
  EXPECT_EQ(same.vocabulary(), characters.vocabulary());
  EXPECT_EQ(same.files()[0].content, files[0].content);
}

TEST(Characters, RefusesLongerTokens) {
  EXPECT_THAT(error_message([] {
                Characters(Vocabulary({{"a", 1}, {"ab", 1}}));
              }),
              AllOf(HasSubstr("token 5"), HasSubstr("\"ab\"")));
}

// Code points that lie across the ends of blocks, and a file that ends inside one.
TEST(Characters, FilesCountAsTextDoes) {
  const TempDir folder;
  std::string text = "x";
  for (int i = 0; i < 60000; ++i) text += i % 3 == 0 ? "狗" : i % 3 == 1 ? "é" : "🙂";
  for (const std::string& tail : {std::string(), std::string("\xe7\x8b"), std::string("é")}) {
    io::write_file(folder / "file", text + tail);
    const std::vector<std::filesystem::path> paths = {folder / "file"};
    EXPECT_EQ(count_characters(paths), count_characters(text + tail));
    EXPECT_EQ(count_characters(paths).size(), 8);
  }
}

TEST(Characters, AByteOrderMarkIsNoCharacterOfAFile) {
  const TempDir folder;
  io::write_file(folder / "file",
                 "\xEF\xBB\xBF"
                 "ab");
  const std::vector<std::filesystem::path> paths = {folder / "file"};
  EXPECT_EQ(count_characters(paths), count_characters("ab"));
}

TEST(Characters, TinyShakespeareHas65) {
  const auto path = test::shared_data("tinyshakespeare/input.txt.gz");
  HEED_NEED_SHARED_DATA(path);
  const std::vector<std::filesystem::path> paths = {path};
  EXPECT_EQ(count_characters(paths).size(), 65 + 4);
}

}  // namespace
}  // namespace heed
