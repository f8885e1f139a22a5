#include "heed/plot/alignment_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "heed/tensor/create.h"
#include "heed/text/unicode.h"
#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kEnglish = {"I", "like", "café"};
const std::vector<std::string> kChinese = {"我", "喜欢", "OK", "。"};

Tensor some_weights() {
  return from_values<float>({0.9f, 0.05f, 0.05f,  //
                             0.0f, 0.6f, 0.4f,    //
                             0.2f, 0.0f, 0.8f,    //
                             0.33f, 0.33f, 0.34f},
                            {4, 3});
}

TEST(AlignmentText, ColumnsStandUnderDoubleWidthWords) {
  EXPECT_EQ(alignment_text({some_weights(), kEnglish, kChinese}),
            "      我  喜欢  OK  。\n"
            "I     ██        ░░  ▒▒\n"
            "like      ▓▓▓▓      ▒▒\n"
            "café      ▒▒▒▒  ██  ▒▒\n");
}

TEST(AlignmentText, ChineseSourceIsPaddedByItsWidth) {
  const std::vector<std::string> source = {"三只", "e\u0301té"}, target = {"x"};
  EXPECT_EQ(alignment_text({from_values<float>({1.0f, 0.3f}, {1, 2}), source, target}),
            "      x\n"
            "三只  ██\n"
            "e\u0301té   ▒▒\n");
}

TEST(AlignmentText, WideOnesGoOnBelow) {
  const std::string text = alignment_text(
      {.weights = some_weights(), .source = kEnglish, .target = kChinese, .max_width = 16});
  EXPECT_EQ(text,
            "      我  喜欢\n"
            "I     ██\n"
            "like      ▓▓▓▓\n"
            "café      ▒▒▒▒\n"
            "\n"
            "      OK  。\n"
            "I     ░░  ▒▒\n"
            "like      ▒▒\n"
            "café  ██  ▒▒\n");
}

TEST(AlignmentText, AWordWiderThanTheRoomStandsAlone) {
  const std::vector<std::string> source = {"a"}, target = {"extraordinary", "b"};
  EXPECT_EQ(alignment_text({from_values<float>({0.0f, 1.0f}, {2, 1}), source, target, 4}),
            "   extraordinary\na\n\n   b\na  ██\n");
}

TEST(AlignmentText, ControlCharactersDoNotMoveTheCursor) {
  const std::vector<std::string> source = {"a\x1b[2J"}, target = {"\n"};
  EXPECT_EQ(alignment_text({ones({1, 1}), source, target}), "\na [2J  ██\n");
  const std::vector<std::string> turned = {"a\u202eb"};
  EXPECT_EQ(alignment_text({ones({1, 1}), turned, target}), "\na b  ██\n");
}

TEST(AlignmentText, WeightsThatAreNotNumbersAreNotShown) {
  const std::vector<std::string> words = {"a"};
  const Tensor nan = full({1, 1}, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(alignment_text({nan, words, words}), "   a\na\n");
}

TEST(AlignmentText, WeightsMustFitTheWords) {
  EXPECT_THAT(error_message([] {
                alignment_text({ones({3, 4}), kEnglish, kChinese});
              }),
              HasSubstr("weights [3, 4] for 4 target and 3 source words"));
  EXPECT_THAT(error_message([] {
                alignment_text({{}, kEnglish, kChinese});
              }),
              HasSubstr("weights missing"));
}

}  // namespace
}  // namespace heed::plot
