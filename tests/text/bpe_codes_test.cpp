// BPE codes: their file, and words cut exactly as subword-nmt cuts them.
#include "heed/text/bpe_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  return error_message([&] { BpeCodes::parse(text, "codes"); });
}

TEST(BpeCodes, MergesByRankEverywhereInTheWord) {
  const BpeCodes codes = BpeCodes::parse("#version: 0.2\na b\nab ab\nc d</w>\n", "codes");
  EXPECT_EQ(codes.size(), 3);
  EXPECT_THAT(codes.segment("ababcd"), ElementsAre("abab", "cd"));
  EXPECT_THAT(codes.segment("cdab"),
              ElementsAre("c", "d", "a", "b"));  // not at the word's end; b</w>
  EXPECT_THAT(codes.segment("abaab"), ElementsAre("ab", "a", "a", "b"));
  EXPECT_THAT(codes.segment("a"), ElementsAre("a"));
}

TEST(BpeCodes, OverlappingPairsMergeFromTheLeft) {
  const BpeCodes codes = BpeCodes::parse("x x\n", "codes");  // version 0.1
  EXPECT_THAT(codes.segment("xxx"), ElementsAre("xx", "x"));
  EXPECT_THAT(codes.segment("xxxxx"), ElementsAre("xx", "xx", "x"));
}

TEST(BpeCodes, APairThatAppearsLaterButRanksHigherWaitsForTheRound) {
  // "ab" is made of both places before "ab c", which ranks higher, is looked at.
  const BpeCodes codes = BpeCodes::parse("#version: 0.2\nab c\na b\nc ab\n", "codes");
  EXPECT_THAT(codes.segment("abcabx"), ElementsAre("abc", "ab", "x"));
}

TEST(BpeCodes, APlaceIsMergedOnceARound) {
  const BpeCodes codes = BpeCodes::parse("#version: 0.2\na b\nab ab\nab c\nabab ab\n", "codes");
  EXPECT_THAT(codes.segment("abababcx"), ElementsAre("abab", "abc", "x"));
}

TEST(BpeCodes, VersionsTreatTheEndDifferently) {
  EXPECT_THAT(BpeCodes::parse("a b\nab </w>\n", "").segment("abab"), ElementsAre("ab", "ab"));
  EXPECT_THAT(BpeCodes::parse("#version: 0.1\na b\n", "").segment("ab"), ElementsAre("ab"));
  EXPECT_THAT(BpeCodes::parse("#version: 0.2\na b\n", "").segment("ab"), ElementsAre("a", "b"));
  EXPECT_THAT(BpeCodes::parse("#version: 0.2.0\r\na b</w>\r\n", "").segment("ab"),
              ElementsAre("ab"));
}

TEST(BpeCodes, OddTextIsCutIntoCodePointsAndBytes) {
  const BpeCodes codes = BpeCodes::parse("#version: 0.2\n小 狗</w>\n", "codes");
  EXPECT_THAT(codes.segment("看小狗"), ElementsAre("看", "小狗"));
  EXPECT_THAT(codes.segment("é\xff🙂"), ElementsAre("é", "\xff", "🙂"));
  EXPECT_THAT(codes.segment("\xff"), ElementsAre("\xff"));
}

TEST(BpeCodes, UndoesMergesThatAreNotAllowed) {
  const BpeCodes codes = BpeCodes::parse("#version: 0.2\na b\nab c\nabc d</w>\nx y</w>\n", "codes");
  const std::set<std::string, std::less<>> known = {"ab.", "c.", "d", "xy"};
  const auto allowed = [&](std::string_view part, bool is_last) {
    return known.contains(std::string(part) + (is_last ? "" : "."));
  };
  EXPECT_THAT(codes.segment("abcd", allowed), ElementsAre("ab", "c", "d"));
  EXPECT_THAT(codes.segment("xy", allowed), ElementsAre("xy"));
  EXPECT_THAT(codes.segment("ab", allowed), ElementsAre("a", "b"));
  // A single character stays whatever it is.
  EXPECT_THAT(codes.segment("q", allowed), ElementsAre("q"));
}

TEST(BpeCodes, UndoingALongChainNeedsNoStack) {
  std::string text = "#version: 0.2\n", merged = "a";
  for (int i = 0; i < 3000; ++i) {
    text += merged + " a\n";
    merged += 'a';
  }
  const BpeCodes codes = BpeCodes::parse(text, "codes");
  const auto parts =
      codes.segment(merged + "b", [](std::string_view part, bool) { return part.size() == 1; });
  EXPECT_EQ(parts.size(), merged.size() + 1);
}

TEST(BpeCodes, AVeryLongWordTakesLittleTime) {
  const BpeCodes codes = BpeCodes::parse("#version: 0.2\na b\nab ab\nabab abab\n", "codes");
  std::string word;
  for (int i = 0; i < 200000; ++i) word += "ab";
  EXPECT_EQ(codes.segment(word + "c").size(), 50001u);
}

TEST(BpeCodes, RefusesWhatAreNoCodes) {
  EXPECT_THAT(error_of("#version: 0.2\na b\na b c\n"),
              AllOf(HasSubstr("codes:3: "), HasSubstr("\"a b c\"")));
  EXPECT_THAT(error_of("a\n"), HasSubstr("codes:1: "));
  EXPECT_THAT(error_of("a b\n\na c\n"), HasSubstr("codes:2: "));
  EXPECT_THAT(error_of("a  b\n"), HasSubstr("codes:1: "));
  EXPECT_THAT(error_of("#version: 0.3\na b\n"), AllOf(HasSubstr("codes:1: "), HasSubstr("0.3")));
  EXPECT_THAT(error_of("a b\nc \xff\n"), AllOf(HasSubstr("codes:2: "), HasSubstr("byte 6")));
  EXPECT_THAT(error_of(""), HasSubstr("no merges"));
  EXPECT_THAT(error_of("#version: 0.2\n"), HasSubstr("no merges"));
}

}  // namespace
}  // namespace heed
