#include "heed/io/folder.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::io {
namespace {

namespace fs = std::filesystem;

constexpr auto fill = [](const fs::path& folder) { write_file(folder / "file", "text"); };

TEST(WriteFolder, AppearsWithAllThatWasWritten) {
  const TempDir dir;
  write_folder(dir / "folder", dir / "temporary", fill);
  EXPECT_EQ(read_file(dir / "folder/file", 100), "text");
  EXPECT_EQ(dir.names(), std::vector<std::string>{"folder"});
}

TEST(WriteFolder, HasATemporaryNameOfItsOwn) {
  const TempDir dir;
  write_folder(dir / "folder/", [&](const fs::path& folder) {
    EXPECT_EQ(folder, dir / "folder.heed-tmp");
    fill(folder);
  });
  EXPECT_EQ(read_file(dir / "folder/file", 100), "text");
  EXPECT_EQ(dir.names(), std::vector<std::string>{"folder"});
}

TEST(WriteFolder, WhatAKilledProcessLeftIsReplaced) {
  const TempDir dir;
  fs::create_directory(dir / "temporary");
  write_file(dir / "temporary/old", "half");
  write_folder(dir / "folder", dir / "temporary", fill);
  EXPECT_FALSE(fs::exists(dir / "folder/old"));
}

TEST(WriteFolder, AFailedOneDoesNotAppear) {
  const TempDir dir;
  EXPECT_EQ(error_message([&] {
              write_folder(dir / "folder", dir / "temporary", [](const fs::path& folder) {
                fill(folder);
                throw Error("the disk is full");
              });
            }),
            "the disk is full");
  EXPECT_EQ(dir.names(), std::vector<std::string>{}) << "nor does a part of it stay";
}

TEST(WriteFolder, AFolderThatCannotBeWrittenIsNamed) {
  const TempDir dir;
  write_file(dir / "file", "text");
  EXPECT_EQ(error_message([&] { write_folder(dir / "file/x", dir / "file/temporary", fill); }),
            fmt::format("[folder] cannot write {}: Not a directory", (dir / "file/x").string()));
}

TEST(WriteFolder, WhatIsThereStays) {
  const TempDir dir;
  write_folder(dir / "folder", dir / "temporary", fill);
  EXPECT_EQ(
      error_message([&] { write_folder(dir / "folder", dir / "temporary", fill); }),
      fmt::format("[folder] {} exists already: choose another name", (dir / "folder").string()));
  EXPECT_EQ(read_file(dir / "folder/file", 100), "text");
}

}  // namespace
}  // namespace heed::io
