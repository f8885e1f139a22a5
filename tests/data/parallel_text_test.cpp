// Parallel text: pairs, columns, and what becomes of bad lines.
#include "heed/data/parallel_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/gzip.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

using Pairs = std::vector<std::string>;

Pairs read_all(ParallelText& text) {
  Pairs all;
  for (TextPair pair; text.next(pair);) {
    all.push_back(fmt::format("{}={}@{}", pair.source, pair.target, pair.line));
  }
  TextPair pair;
  EXPECT_FALSE(text.next(pair)) << "the end is the end";
  EXPECT_EQ(text.report().kept, std::ssize(all));
  return all;
}

class ParallelTextTest : public testing::Test {
 protected:
  ParallelText two(const std::string& source, const std::string& target,
                   const ParallelTextOptions& options = {}) {
    io::write_file(folder_ / "a.en", source);
    io::write_file(folder_ / "a.de", target);
    return {folder_ / "a.en", folder_ / "a.de", options};
  }
  ParallelText table(const std::string& lines, const TextColumns& columns = {},
                     const ParallelTextOptions& options = {}) {
    io::write_file(folder_ / "a.tsv", lines);
    return {folder_ / "a.tsv", columns, options};
  }
  std::string error_of(const std::string& source, const std::string& target) {
    return error_message([&] {
      ParallelText text = two(source, target);
      read_all(text);
    });
  }

  TempDir folder_;
};

constexpr ParallelTextOptions kSkip = {.on_bad = OnBad::skip};

TEST_F(ParallelTextTest, ReadsTwoFiles) {
  ParallelText text = two("a\nb b\n", "A\r\nB\r\n");
  EXPECT_THAT(read_all(text), ElementsAre("a=A@1", "b b=B@2"));
  EXPECT_EQ(describe(text.report()), "2 lines, 2 kept");
}

TEST_F(ParallelTextTest, ReadsGzip) {
  ParallelText text = two(test::gzip("a\nb\n"), test::gzip("A\nB"));
  EXPECT_THAT(read_all(text), ElementsAre("a=A@1", "b=B@2"));
}

TEST_F(ParallelTextTest, ReadsColumns) {
  const std::string lines = "1\ta\tA\n2\tb\tB\textra\n";
  ParallelText text = table(lines, {.source = 2, .target = 3});
  EXPECT_THAT(read_all(text), ElementsAre("a=A@1", "b=B@2"));
  ParallelText back = table(lines, {.source = 3, .target = 1});
  EXPECT_THAT(read_all(back), ElementsAre("A=1@1", "B=2@2"));
}

TEST_F(ParallelTextTest, DropsTheMarkOfWindowsEditors) {
  ParallelText text =
      two("\xEF\xBB\xBF"
          "a\n\xEF\xBB\xBF"
          "b\n",
          "A\nB\n");
  EXPECT_THAT(read_all(text), ElementsAre("a=A@1",
                                          "\xEF\xBB\xBF"
                                          "b=B@2"));
}

TEST_F(ParallelTextTest, StopsAtBadLinesWithTheirPlace) {
  EXPECT_THAT(error_of("a\n\xC3(\n", "A\nB\n"), HasSubstr("a.en:2 has broken UTF-8 at byte 1"));
  EXPECT_THAT(error_of("a\nb\n", std::string("A\nB\0\n", 5)),
              HasSubstr("a.de:2 has a NUL byte at byte 2"));
  EXPECT_THAT(error_of("a\nb\n", "A\n \n"), HasSubstr("a.de:2 is empty"));
  EXPECT_THAT(error_of(std::string(70000, 'x'), "A\n"),
              HasSubstr("a.en:1 has 70000 bytes, more than 65536"));
  EXPECT_THAT(error_message([&] {
                ParallelText text = table("a\tA\nb\n");
                read_all(text);
              }),
              HasSubstr("a.tsv:2 has 1 column between tabs, not 2"));
}

TEST_F(ParallelTextTest, StopsAtUnequalLengths) {
  EXPECT_THAT(error_of("a\nb\nc\n", "A\n"),
              AllOf(HasSubstr("a.de has 1 lines"), HasSubstr("a.en has more")));
  EXPECT_THAT(error_of("", "A\n"),
              AllOf(HasSubstr("a.en has 0 lines"), HasSubstr("a.de has more")));
}

TEST_F(ParallelTextTest, SkipsBadPairsAndCountsThem) {
  ParallelText text =
      two("a\n\nc\n\xFF\ne\nf\n", "A\nB\n\nD\nE\n" + std::string(65537, 'x') + "\n", kSkip);
  EXPECT_THAT(read_all(text), ElementsAre("a=A@1", "e=E@5"));
  EXPECT_EQ(text.report().lines, 6);
  EXPECT_EQ(text.report().bad.count(BadLine::empty), 2);
  EXPECT_EQ(text.report().bad.count(BadLine::utf8), 1);
  EXPECT_EQ(text.report().bad.count(BadLine::too_long), 1);
  EXPECT_THAT(text.report().bad.first(BadLine::empty), EndsWith("a.en:2"));
  EXPECT_EQ(text.report().unmatched, 0);
}

TEST_F(ParallelTextTest, SkipsWhatTheOtherFileLacks) {
  ParallelText text = two("a\nb\nc\nd\n", "A\nB\n", kSkip);
  EXPECT_THAT(read_all(text), ElementsAre("a=A@1", "b=B@2"));
  EXPECT_EQ(text.report().unmatched, 2);
  EXPECT_THAT(text.report().longer, EndsWith("a.en"));
  EXPECT_THAT(describe(text.report()),
              AllOf(HasSubstr("2 lines, 2 kept, 2 more lines in"), HasSubstr("a.en not used")));
}

TEST_F(ParallelTextTest, SkipsLinesWithoutEnoughColumns) {
  ParallelText text = table("a\nb\tB\n\tC\n", {}, kSkip);
  EXPECT_THAT(read_all(text), ElementsAre("b=B@2"));
  EXPECT_EQ(text.report().bad.count(BadLine::columns), 1);
  EXPECT_EQ(text.report().bad.count(BadLine::empty), 1);
}

TEST_F(ParallelTextTest, RefusesBadArguments) {
  EXPECT_THAT(error_message([&] { table("a\tA\n", {.source = 0, .target = 1}); }),
              HasSubstr("columns 0 and 1"));
  EXPECT_THAT(error_message([&] { table("a\tA\n", {.source = 2, .target = 2}); }),
              HasSubstr("must differ"));
  EXPECT_THAT(error_message([&] { ParallelText(folder_ / "none", folder_ / "none"); }),
              HasSubstr("none"));
}

TEST(ParallelTextData, ReadsMulti30k) {
  const auto english = test::shared_data("multi30k/train.en.gz");
  HEED_NEED_SHARED_DATA(english);
  ParallelText text(english, test::shared_data("multi30k/train.de.gz"));
  EXPECT_EQ(read_all(text).size(), 29000u);
}

}  // namespace
}  // namespace heed
