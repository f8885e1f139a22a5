// Word alignments: both forms of files, the error rate, real gold sets.
#include "heed/evaluation/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed::evaluation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Alignment, ReadsPharaohsForm) {
  EXPECT_THAT(parse_alignments("1-0 0-0\n\n2?3 4p5 6-7?\n", "x", 0),
              ElementsAre(ElementsAre(Link{0, 0}, Link{1, 0}), IsEmpty(),
                          ElementsAre(Link{2, 3, false}, Link{4, 5, false}, Link{6, 7, false})));
  EXPECT_THAT(parse_alignments("1-2", "x", 1), ElementsAre(ElementsAre(Link{0, 1})));
  EXPECT_THAT(parse_alignments("", "x", 0), IsEmpty());
}

TEST(Alignment, ALinkNamedTwiceIsSureIfOnceSure) {
  EXPECT_THAT(parse_alignments("1?2 1-2 1-2", "x", 0), ElementsAre(ElementsAre(Link{1, 2})));
}

TEST(Alignment, ReadsOchAndNeysForm) {
  EXPECT_THAT(parse_alignments("1 1 2 S\n3 2 1 P\n3 1 1\n1 1 1 P 0.5\n", "x", 1),
              ElementsAre(ElementsAre(Link{0, 0, false}, Link{0, 1}), IsEmpty(),
                          ElementsAre(Link{0, 0}, Link{1, 0, false})));
}

TEST(Alignment, RefusesWhatIsNoLink) {
  const auto message = [](const std::string& text, std::int32_t first) {
    return error_message([&] { parse_alignments(text, "gold", first); });
  };
  EXPECT_THAT(message("0-0\n1-x", 0), HasSubstr("gold:2: \"1-x\" is not a link"));
  EXPECT_THAT(message("a", 0), HasSubstr("gold:1: \"a\" is not a link"));
  EXPECT_THAT(message("1-2-3", 0), HasSubstr("not a link"));
  EXPECT_THAT(message("-1-2", 0), HasSubstr("not a link"));
  EXPECT_THAT(message("99999999999-1", 0), HasSubstr("not a link"));
  EXPECT_THAT(message("0-1", 1), HasSubstr("numbers start at 1"));
  EXPECT_THAT(message("1 1", 0), HasSubstr("gold:1: not a link: write sentence"));
  EXPECT_THAT(message("1 1 1 X", 0), HasSubstr("not a link"));
  EXPECT_THAT(message("0 1 1 S", 0), HasSubstr("there is no sentence 0"));
  EXPECT_THAT(message("2000000000 1 1 S", 0), HasSubstr("there is no sentence 2000000000"));
  EXPECT_THAT(message("1-1", 2), HasSubstr("must be 0 or 1"));
}

TEST(Alignment, HasTheErrorRateOfItsDefinition) {
  const auto gold = parse_alignments("0-0 1-1 2?2\n0-0", "gold", 0);
  const auto found = parse_alignments("0-0 2-2 3-3\n\n", "found", 0);
  const AlignmentScore score = score_alignments(gold, found);
  EXPECT_EQ(score.links, 3);
  EXPECT_EQ(score.sure, 3);
  EXPECT_EQ(score.possible, 4);
  EXPECT_DOUBLE_EQ(score.precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(score.recall, 1.0 / 3);
  EXPECT_DOUBLE_EQ(score.error_rate, 1 - (1.0 + 2.0) / (3 + 3));
  EXPECT_EQ(score_alignments(gold, gold).error_rate, 0);
  EXPECT_EQ(score_alignments({}, {}).error_rate, 0);
  EXPECT_THAT(error_message([&] { score_alignments(gold, std::span(found).first(1)); }),
              HasSubstr("the gold has 2 sentences, the alignment to score has 1"));
}

TEST(Alignment, ReadsRealGold) {
  const auto hansards = test::shared_data("word-alignment/enfr.gold.txt.gz");
  HEED_NEED_SHARED_DATA(hansards);
  const auto gold = read_alignments(hansards, 1);
  const AlignmentScore score = score_alignments(gold, gold);
  EXPECT_EQ(gold.size(), 447u);
  EXPECT_EQ(score.sure, 4038);
  EXPECT_EQ(score.possible, 4038 + 13400);

  const auto form = [](const std::string& name) {
    return read_alignments(test::shared_data("word-alignment/bicici-europarl100." + name), 0);
  };
  EXPECT_EQ(form("de-en.wa.gz"), form("de-en.ref.wa.gz")) << "the same links in both forms";
}

}  // namespace
}  // namespace heed::evaluation
