// Pictures with captions: files and their faults, boxes, and pictures that are composed.
#include "heed/data/captioned_pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "heed/io/file.h"
#include "heed/text/unicode.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::captioned_pictures_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Ten pictures of 2 x 3 pixels; those of picture i are i + 1.
PictureSet digits(std::int64_t channels = 1) {
  PictureSet set{.shape = {channels, 2, 3}};
  for (int i = 0; i < 10; ++i) {
    set.labels.push_back(i);
    set.names.push_back(std::to_string(i));
    set.bytes.insert(set.bytes.end(), static_cast<std::size_t>(set.shape.bytes()),
                     static_cast<std::uint8_t>(i + 1));
  }
  return set;
}

TEST(CaptionedPictures, AreReadFromTwoFiles) {
  const TempDir dir;
  for (const std::int64_t channels : {1, 3}) {
    write_idx_pictures(digits(channels), dir / "set.idx");
    io::write_file(dir / "set.txt", "a b\nc\nd\ne\nf\ng\nh\ni\nj\nk 猫\n");
    const CaptionedPictures data = read_captioned(dir / "set.idx", dir / "set.txt");
    EXPECT_EQ(data.pictures.shape, (PictureShape{channels, 2, 3}));
    EXPECT_EQ(data.pictures.bytes, digits(channels).bytes);
    EXPECT_EQ(data.pictures.labels[7], 7) << "its number";
    EXPECT_EQ(data.captions[9], "k 猫");
  }
}

TEST(CaptionedPictures, FaultsNameTheirPlace) {
  const TempDir dir;
  write_idx_pictures(digits(), dir / "set.idx");
  const auto complaint = [&](const std::string& text) {
    io::write_file(dir / "set.txt", text);
    return error_message([&] { read_captioned(dir / "set.idx", dir / "set.txt"); });
  };
  EXPECT_THAT(complaint("a\nb\n"), HasSubstr("set.txt has 2 lines for 10 pictures"));
  EXPECT_THAT(complaint("a\n \nc\nd\ne\nf\ng\nh\ni\nj\n"), HasSubstr("set.txt:2 is empty"));
  EXPECT_THAT(complaint("a\nb\nc\xff"
                        "\nd\ne\nf\ng\nh\ni\nj\n"),
              HasSubstr("set.txt:3 is not UTF-8"));
  io::write_file(dir / "cut.idx", std::string("\0\0\x08\x04\0\0\0\x01", 8));
  EXPECT_THAT(error_message([&] { read_idx_pictures(dir / "cut.idx"); }), HasSubstr("cut.idx"));
  io::write_file(dir / "two.idx", std::string("\0\0\x08\x04\0\0\0\x01\0\0\0\x02\0\0\0\x01\0\0\0\x01"
                                              "ab",
                                              22));
  EXPECT_THAT(error_message([&] { read_idx_pictures(dir / "two.idx"); }),
              HasSubstr("pictures of 2 channels: there must be 1 or 3"));
}

TEST(CaptionedPictures, BoxesGoToFilesAndBack) {
  const WordBoxes boxes = {std::nullopt, PixelBox{1, 2, 3, 4}, std::nullopt};
  EXPECT_EQ(boxes_line(boxes), "- 1,2,3,4 -");
  const TempDir dir;
  io::write_file(dir / "boxes", "- 1,2,3,4 -\n-\n");
  const auto read = read_boxes(dir / "boxes", {"a seven there", "x"});
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0], boxes);
  const auto complaint = [&](const std::string& text) {
    io::write_file(dir / "boxes", text);
    return error_message([&] { read_boxes(dir / "boxes", {"a b"}); });
  };
  EXPECT_THAT(complaint("- 1,2,3\n"), HasSubstr("boxes:1 has '1,2,3': an entry must be"));
  EXPECT_THAT(complaint("- 1,2,3,4x\n"), HasSubstr("'1,2,3,4x'"));
  EXPECT_THAT(complaint("- -1,2,3,4\n"), HasSubstr("'-1,2,3,4'"));
  EXPECT_THAT(complaint("-\n"), HasSubstr("boxes:1 has 1 entries, its caption 2 words"));
  EXPECT_THAT(complaint("- -\n- -\n"), HasSubstr("2 lines for 1 captions"));
}

TEST(CaptionedPictures, WeightInABoxCountsPartsOfCells) {
  const PictureShape shape{1, 4, 6};  // cells of 2 x 3 pixels
  const std::vector<float> weights = {0.1f, 0.2f, 0.3f, 0.4f};
  EXPECT_NEAR(weight_inside(weights, {2, 2}, shape, {0, 0, 4, 6}), 1.0, 1e-6);
  EXPECT_NEAR(weight_inside(weights, {2, 2}, shape, {2, 3, 2, 3}), 0.4, 1e-6);
  EXPECT_NEAR(weight_inside(weights, {2, 2}, shape, {1, 0, 2, 3}), 0.5 * 0.1 + 0.5 * 0.3, 1e-6);
  EXPECT_NEAR(weight_inside(weights, {2, 2}, shape, {4, 6, 2, 3}), 0.0, 1e-9) << "outside";
}

// Every pixel of a box has the value of the picture that its word names; all others are 0.
void expect_drawn(const ComposedPicture& made, const std::vector<std::string>& words) {
  const auto said = unicode::split_words(made.caption);
  ASSERT_EQ(said.size(), made.boxes.size());
  std::vector<std::uint8_t> expected(made.picture.bytes.size(), 0);
  const std::int64_t side = made.picture.shape.width;
  int named = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (!made.boxes[i]) continue;
    ++named;
    const PixelBox& box = *made.boxes[i];
    const auto digit = std::ranges::find(words, said[i]) - words.begin();
    ASSERT_LT(digit, 10) << said[i];
    for (std::int64_t p = 0; p < box.height * box.width; ++p) {
      const std::int64_t place = (box.top + p / box.width) * side + box.left + p % box.width;
      expected[static_cast<std::size_t>(place)] = static_cast<std::uint8_t>(digit + 1);
    }
  }
  EXPECT_GE(named, 1);
  EXPECT_EQ(made.picture.bytes, expected) << made.caption;
}

TEST(ComposePicture, CaptionsNameWhatIsThere) {
  const std::vector<std::string> english = {"zero", "one", "two",   "three", "four",
                                            "five", "six", "seven", "eight", "nine"};
  const std::vector<std::string> chinese = {"零", "一", "二", "三", "四",
                                            "五", "六", "七", "八", "九"};
  std::set<std::size_t> counts;
  for (std::int64_t i = 0; i < 60; ++i) {
    const ComposedPicture made = compose_picture(digits(), {.canvas = 11}, i);
    EXPECT_EQ(made.picture.shape, (PictureShape{1, 11, 11}));
    expect_drawn(made, english);
    counts.insert(made.boxes.size());
    expect_drawn(compose_picture(digits(), {.language = CaptionLanguage::zh}, i), chinese);
  }
  EXPECT_THAT(counts, ElementsAre(6, 13, 20, 27)) << "one to four digits";
}

TEST(ComposePicture, DependsOnSeedAndNumber) {
  const auto caption = [](std::uint64_t seed, std::int64_t number) {
    return compose_picture(digits(), {.seed = seed}, number).caption;
  };
  EXPECT_EQ(caption(1, 5), caption(1, 5));
  EXPECT_NE(caption(1, 5), caption(1, 6));
  EXPECT_NE(caption(1, 5), caption(2, 5));
}

TEST(ComposePicture, WrongOptionsSayWhatIsWrong) {
  EXPECT_THAT(error_message([] { compose_picture(digits(), {.canvas = 5}, 0); }),
              HasSubstr("pictures of 2 x 3 do not fit; give at least 6"));
  EXPECT_THAT(error_message([] { compose_picture(digits(), {.most = 5}, 0); }),
              HasSubstr("there are 1 to 4 quarters"));
  PictureSet animals = digits();
  for (std::string& name : animals.names) name = "ape";
  EXPECT_THAT(compose_picture(animals, {.most = 1}, 0).caption, HasSubstr("an ape at the"));
  EXPECT_THAT(
      error_message([&] { compose_picture(animals, {.language = CaptionLanguage::zh}, 0); }),
      HasSubstr("the class 'ape' has no Chinese word"));
}

}  // namespace
}  // namespace heed::captioned_pictures_test
