// Sets of pictures as files hold them: MNIST's idx files, CIFAR-10's binary files, folders.
#include "heed/data/picture_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/gzip.h"
#include "tests/support/paths.h"
#include "tests/support/picture_files.h"
#include "tests/support/temp_dir.h"

namespace heed::picture_set_test {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kIdxPictures = "\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\3abcdef"s;
const std::string kIdxLabels = "\0\0\x08\x01\0\0\0\2\4\1"s;

class PictureSets : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    std::filesystem::create_directories((dir_ / name).parent_path());
    io::write_file(dir_ / name, content);
    return (dir_ / name).string();
  }
  std::string idx_error(const std::string& pictures, const std::string& labels) {
    const std::string p = file("p", pictures), l = file("l", labels);
    return error_message([&] { read_idx(p, l); });
  }
  TempDir dir_;
};

TEST_F(PictureSets, IdxFiles) {
  const std::string labels = file("labels", kIdxLabels);
  for (const bool is_gzip : {false, true}) {
    const std::string pictures =
        file("pictures", is_gzip ? test::gzip(kIdxPictures) : kIdxPictures);
    const PictureSet set = read_pictures(std::vector<std::string>{pictures, labels});
    EXPECT_EQ(set.shape, (PictureShape{1, 1, 3}));
    EXPECT_THAT(set.labels, ElementsAre(4, 1));
    EXPECT_THAT(set.names, ElementsAre("0", "1", "2", "3", "4"));
    EXPECT_THAT(set.picture(1), ElementsAre('d', 'e', 'f'));
  }
}

TEST_F(PictureSets, DamagedIdxFiles) {
  EXPECT_THAT(idx_error("no"s, kIdxLabels), HasSubstr("the type at byte 0 needs 4 bytes"));
  EXPECT_THAT(idx_error(kIdxLabels, kIdxLabels), HasSubstr("begins with 0x00000803"));
  EXPECT_THAT(idx_error(kIdxPictures + "x", kIdxLabels),
              HasSubstr("7 bytes follow, and the sizes before them make 6"));
  EXPECT_THAT(idx_error("\0\0\x08\x03\0\0\0\0\0\0\0\1\0\0\0\3"s, kIdxLabels),
              HasSubstr("there are no pictures"));
  EXPECT_THAT(idx_error(kIdxPictures, "\0\0\x08\x01\0\0\0\1\4"s), HasSubstr("has 2 pictures, "));
  EXPECT_THAT(
      idx_error("\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s, kIdxLabels),
      HasSubstr("4294967295 x 4294967295 pixels: at most 32768"));
}

TEST_F(PictureSets, CifarFiles) {
  std::string content(2 * 3073, '\1');
  content[3073] = '\3';
  const PictureSet set = read_pictures(std::vector<std::string>{file("cifar", content)});
  EXPECT_EQ(set.shape, (PictureShape{3, 32, 32}));
  EXPECT_THAT(set.labels, ElementsAre(1, 3));
  EXPECT_EQ(set.names[3], "cat");
  EXPECT_THAT(error_message([&] { read_cifar(file("cut", content.substr(1))); }),
              HasSubstr("it has 6145 bytes"));
  content[0] = '\x0a';
  EXPECT_THAT(error_message([&] { read_cifar(file("label", content)); }),
              HasSubstr("byte 0: label 10"));
}

TEST_F(PictureSets, Folders) {
  file("set/cat/a.PNG", test::grey_png(2, 2, 40));
  file("set/cat/notes.txt", "not a picture");
  file("set/dog/b.png", test::grey_png(4, 2, 80));
  const PictureReading reading{.pictures = {.size = 2, .channels = 1}};
  const PictureSet set = read_pictures(std::vector<std::string>{(dir_ / "set").string()}, reading);
  EXPECT_THAT(set.names, ElementsAre("cat", "dog"));
  EXPECT_THAT(set.labels, ElementsAre(0, 1));
  EXPECT_THAT(set.picture(1), ElementsAre(80, 80, 80, 80));
}

TEST_F(PictureSets, BrokenFilesOfAFolder) {
  file("set/cat/a.png", test::grey_png(2, 2, 40));
  file("set/cat/b.png", test::grey_png(2, 2, 40).substr(0, 50));
  PictureReading reading{.pictures = {.size = 2, .channels = 1}};
  EXPECT_THAT(error_message([&] { read_picture_folder(dir_ / "set", reading); }),
              HasSubstr("b.png"));
  reading.on_bad = OnBad::skip;
  const PictureSet set = read_picture_folder(dir_ / "set", reading);
  EXPECT_EQ(set.size(), 1);
  EXPECT_EQ(set.skipped, 1);
  reading.names = {"dog"};
  EXPECT_THAT(error_message([&] { read_picture_folder(dir_ / "set", reading); }),
              HasSubstr("class 'cat', which is not among dog"));
  EXPECT_THAT(error_message([&] { read_picture_folder(dir_ / "set/cat", {}); }),
              HasSubstr("has no folders"));
}

TEST_F(PictureSets, RealOnes) {
  const auto pictures = test::shared_data("mnist/t10k-images-idx3-ubyte.gz");
  HEED_NEED_SHARED_DATA(pictures);
  const PictureSet mnist = read_idx(pictures, test::shared_data("mnist/t10k-labels-idx1-ubyte.gz"));
  EXPECT_EQ(mnist.size(), 10000);
  EXPECT_EQ(mnist.shape, (PictureShape{1, 28, 28}));
  EXPECT_EQ(mnist.names.size(), 10u);
  const PictureSet cifar = read_cifar(test::shared_data("cifar10-subset/test1k.bin.gz"));
  EXPECT_EQ(cifar.size(), 1000);
}

}  // namespace
}  // namespace heed::picture_set_test
