// The files of an imported model's folder: found, held, written.
#include "heed/generation/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/temp_dir.h"

namespace heed::origin_test {
namespace {

constexpr std::size_t kMost = 1 << 10;

class OriginTest : public testing::Test {
 protected:
  OriginTest() {
    std::filesystem::create_directories(dir_ / "from" / "1_Pooling");
    std::filesystem::create_directory(dir_ / "to");
    io::write_file(dir_ / "from" / "config.json", "{}");
    io::write_file(dir_ / "from" / "1_Pooling" / "config.json", "[]");
    io::write_file(dir_ / "from" / "model.safetensors", "weights");
  }
  void expect_written() const {
    EXPECT_EQ(io::read_file(dir_ / "to" / "config.json", kMost), "{}");
    EXPECT_EQ(io::read_file(dir_ / "to" / "1_Pooling" / "config.json", kMost), "[]");
    EXPECT_FALSE(std::filesystem::exists(dir_ / "to" / "model.safetensors"));
  }
  TempDir dir_;
};

TEST_F(OriginTest, WritesTheFilesThatBelongToAModel) {
  Origin(dir_ / "from").write(dir_ / "to");
  expect_written();
}

TEST_F(OriginTest, HeldFilesOutliveTheirFolder) {
  Origin origin(dir_ / "from");
  origin.hold();
  std::filesystem::remove_all(dir_ / "from");
  origin.write(dir_ / "to");
  expect_written();
}

TEST_F(OriginTest, FilesMayBeReplacedAndRemoved) {
  Origin origin(dir_ / "from");
  origin.replace({"config.json", "{1}"});
  origin.replace({"vocab.txt", "a"});
  const std::string_view gone[] = {"1_Pooling/config.json"};
  origin.remove(gone);
  origin.write(dir_ / "to");
  EXPECT_EQ(io::read_file(dir_ / "to" / "config.json", kMost), "{1}");
  EXPECT_EQ(io::read_file(dir_ / "to" / "vocab.txt", kMost), "a");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "to" / "1_Pooling"));
}

TEST_F(OriginTest, FilesMayBeMade) {
  int made = 0;
  Origin origin([&] {
    ++made;
    return std::vector<Tokenizer::File>{{"config.json", "{}"}, {"1_Pooling/config.json", "[]"}};
  });
  EXPECT_EQ(made, 0) << "only when they are needed";
  origin.hold();
  origin.write(dir_ / "to");
  EXPECT_EQ(made, 1);
  expect_written();
}

}  // namespace
}  // namespace heed::origin_test
