// PNG and JPEG files: pixels come back, damaged files are refused.
#include "heed/pictures/picture_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/picture_files.h"
#include "tests/support/temp_dir.h"

namespace heed::picture_file_test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

Picture decode(const std::string& file) {
  return decode_picture(std::as_bytes(std::span(file)), "file");
}
std::string error(const std::string& file) {
  return error_message([&] { decode(file); });
}

TEST(PictureFile, PngIsExact) {
  const std::vector<std::uint8_t> grey = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(decode(test::png(2, 3, grey)).shape, (PictureShape{1, 2, 3}));
  EXPECT_EQ(decode(test::png(2, 3, grey)).bytes, grey);
  const std::vector<std::uint8_t> colour = {10, 20, 30, 11, 21, 31};
  const Picture picture = decode(test::png(1, 2, colour));
  EXPECT_EQ(picture.shape, (PictureShape{3, 1, 2}));
  EXPECT_THAT(picture.bytes, ElementsAre(10, 11, 20, 21, 30, 31)) << "channel after channel";
}

TEST(PictureFile, JpegIsClose) {
  const std::vector<std::uint8_t> grey(16 * 8, 77);
  const Picture picture = decode(test::jpeg(16, 8, grey));
  EXPECT_EQ(picture.shape, (PictureShape{1, 16, 8}));
  for (const std::uint8_t value : picture.bytes) EXPECT_NEAR(value, 77, 1);
  std::vector<std::uint8_t> colour;
  for (int i = 0; i < 64; ++i) colour.insert(colour.end(), {200, 100, 50});
  const Picture coloured = decode(test::jpeg(8, 8, colour));
  EXPECT_EQ(coloured.shape, (PictureShape{3, 8, 8}));
  EXPECT_NEAR(coloured.bytes[0], 200, 2);
  EXPECT_NEAR(coloured.bytes[64], 100, 2);
  EXPECT_NEAR(coloured.bytes[128], 50, 2);
}

// A PNG file ends with 12 bytes after its pixels.
TEST(PictureFile, EveryCutIsRefused) {
  const std::vector<std::uint8_t> pixels(24 * 24 * 3, 99);
  for (const std::string& file : {test::png(24, 24, pixels), test::jpeg(24, 24, pixels)}) {
    for (std::size_t size = 0; size + 16 < file.size(); size += 1 + size / 16) {
      EXPECT_THAT(error(file.substr(0, size)),
                  AnyOf(HasSubstr("damaged"), HasSubstr("neither a PNG nor a JPEG")))
          << size << " of " << file.size();
    }
  }
}

TEST(PictureFile, HugeOnesAreRefusedBeforeMemoryIsTaken) {
  std::string file = test::grey_png(1, 1, 0);
  file[16] = '\x7f';  // the width becomes 2 billion; the checksum of the header no longer fits
  EXPECT_THAT(error(file), AnyOf(HasSubstr("damaged"), HasSubstr("at most")));
  std::string jpeg = test::jpeg(8, 8, std::vector<std::uint8_t>(64, 5));
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg[frame + 5] = jpeg[frame + 7] = '\xfe';  // 65,032 x 65,032 pixels
  EXPECT_THAT(error(jpeg), HasSubstr("at most 32768 x 32768 are read"));
}

TEST(PictureFile, NamesAndOtherFiles) {
  EXPECT_TRUE(is_picture_name("a/B.JPeg"));
  EXPECT_TRUE(is_picture_name("b.png"));
  EXPECT_FALSE(is_picture_name("png"));
  EXPECT_FALSE(is_picture_name("c.gif"));
  EXPECT_EQ(error("GIF89a"), "[picture] file: it is neither a PNG nor a JPEG file");
  const TempDir dir;
  io::write_file(dir / "a.png", test::grey_png(2, 2, 7));
  EXPECT_THAT(read_picture(dir / "a.png").bytes, ElementsAre(7, 7, 7, 7));
}

}  // namespace
}  // namespace heed::picture_file_test
