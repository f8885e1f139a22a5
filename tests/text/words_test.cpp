// Words by a list: numbers and back, joints, and lists from files.
#include "heed/text/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/gzip.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Words, SplitsAtAsciiSpaceOnly) {
  EXPECT_THAT(split_at_spaces(" a\tb\u00a0c\r\n狗　猫 "), ElementsAre("a", "b\u00a0c", "狗　猫"));
  EXPECT_THAT(split_at_spaces(""), IsEmpty());
  EXPECT_THAT(split_at_spaces(" \t\n"), IsEmpty());
}

TEST(Words, NumbersAndBack) {
  const Words words(Vocabulary({{"the", 9}, {"dog", 5}, {"狗", 1}}));
  EXPECT_THAT(words.encode("the  dog 狗"), ElementsAre(4, 5, 6));
  EXPECT_EQ(words.decode(words.encode(" the dog\t狗 ")), "the dog 狗");
  EXPECT_THAT(words.encode("The </s> dog \xff"), ElementsAre(0, 0, 5, 0));
  EXPECT_EQ(words.decode(std::vector{1, 4, 0, 2, 3}), "the <unk>");
  EXPECT_THAT(words.encode("   "), IsEmpty());
  EXPECT_EQ(words.decode({}), "");
  EXPECT_EQ(words.joint(), "");
  EXPECT_THAT(error_message([&] { words.decode(std::vector{7}); }), HasSubstr("no token 7"));
}

TEST(Words, PutsTogetherWhatJointsHold) {
  const Words words(Vocabulary({{"lo@@", 1}, {"w", 1}, {"er", 1}, {"w@@", 1}, {"@@", 1}}));
  EXPECT_EQ(words.joint(), "@@");
  EXPECT_EQ(words.decode(words.encode("lo@@ w lo@@ w@@ er")), "low lower");
  EXPECT_EQ(words.decode(words.encode("er lo@@")), "er lo");
  EXPECT_TRUE(words.continues_word(4));
  EXPECT_FALSE(words.continues_word(5));
  EXPECT_THAT(word_spans(words, words.encode("lo@@ w@@ er er")),
              ElementsAre(WordSpan{0, 3}, WordSpan{3, 4}));
  const Words apart(words.vocabulary(), "");
  EXPECT_EQ(apart.decode(apart.encode("lo@@ w")), "lo@@ w");
  EXPECT_EQ(joint_of(Vocabulary({{"@@", 1}})), "") << "a word of its own";
}

TEST(Words, ReadsBackFromItsFile) {
  for (const char* joint : {"", "@@", "\xef\xbf\xad"}) {
    const Words words(Vocabulary({{"</s>", 0}, {"\"quoted\\", 3}, {"狗", 2}}), joint);
    const auto files = words.files();
    ASSERT_EQ(files.size(), 1u);
    const auto again = parse_tokenizer(files[0].content, "file");
    const auto& same = dynamic_cast<const Words&>(*again);
    EXPECT_EQ(same.vocabulary(), words.vocabulary());
    EXPECT_EQ(same.special(), words.special());
    EXPECT_EQ(same.joint(), joint);
    EXPECT_EQ(same.files()[0].content, files[0].content);
  }
}

TEST(Words, CountsTheWordsOfFiles) {
  const TempDir folder;
  io::write_file(folder / "a", "the dog\nthe <s>\n");
  io::write_file(folder / "b.gz", test::gzip("dog the\xff the\n"));
  const std::vector<std::filesystem::path> paths = {folder / "a", folder / "b.gz"};
  EXPECT_EQ(count_words(paths), Vocabulary({{"the", 3}, {"dog", 2}}));
  EXPECT_EQ(count_words(paths, {.size = 5}), Vocabulary({{"the", 3}}));
  io::write_file(folder / "marked",
                 "\xEF\xBB\xBF"
                 "the dog\n");
  const std::vector<std::filesystem::path> marked = {folder / "marked"};
  EXPECT_EQ(count_words(marked), Vocabulary({{"dog", 1}, {"the", 1}}));
  const std::vector<std::filesystem::path> missing = {folder / "none"};
  EXPECT_THAT(error_message([&] { count_words(missing); }), HasSubstr("none"));
}

}  // namespace
}  // namespace heed
