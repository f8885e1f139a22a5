#include "heed/io/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Paths, WhatIsThere) {
  const TempDir folder;
  write_file(folder / "file", "x");
  std::filesystem::create_symlink("nowhere", folder / "broken");
  EXPECT_TRUE(io::exists(folder / "file"));
  EXPECT_FALSE(io::exists(folder / "none"));
  EXPECT_FALSE(io::exists(folder / "file" / "below")) << "a file holds nothing";
  EXPECT_FALSE(io::exists(folder / "broken"));
  EXPECT_FALSE(is_folder(folder / "file"));
  EXPECT_FALSE(is_folder(folder / "none"));
  EXPECT_TRUE(is_folder(folder / "."));
}

TEST(Paths, ListsInOrder) {
  const TempDir folder;
  for (const char* name : {"b", "a", "c"}) write_file(folder / name, "");
  EXPECT_THAT(list_folder(folder / "."),
              ElementsAre(folder / "." / "a", folder / "." / "b", folder / "." / "c"));
  EXPECT_THAT(error_message([&] { list_folder(folder / "none"); }),
              AllOf(HasSubstr("cannot list"), HasSubstr("No such file")));
}

TEST(Paths, RemovesAllThatIsInAFolder) {
  const TempDir folder;
  std::filesystem::create_directories(folder / "a" / "b" / "c");
  std::filesystem::create_directory(folder / "kept");
  write_file(folder / "kept" / "file", "x");
  write_file(folder / "a" / "b" / "file", "x");
  std::filesystem::create_directory_symlink("../kept", folder / "a" / "link");
  std::filesystem::create_symlink("nowhere", folder / "a" / "broken");
  remove_tree(folder / "a");
  EXPECT_THAT(list_folder(folder.path()), ElementsAre(folder / "kept"));
  EXPECT_TRUE(io::exists(folder / "kept" / "file")) << "links are not followed";
  remove_tree(folder / "kept" / "file");
  remove_tree(folder / "kept" / "file");  // it is not there
  EXPECT_THAT(list_folder(folder / "kept"), ElementsAre());
  EXPECT_THAT(error_message([&] { remove_tree("/proc/self/stat"); }),
              HasSubstr("cannot remove /proc/self/stat"));
}

TEST(Paths, ErrorsNameThePath) {
  const std::string name(300, 'x');
  EXPECT_THAT(error_message([&] { io::exists(name); }),
              AllOf(HasSubstr("cannot look at xxx"), HasSubstr("File name too long")));
  EXPECT_THAT(error_message([&] { is_folder(name); }), HasSubstr("File name too long"));
  try {
    std::filesystem::rename("no-such-file", "elsewhere");
    FAIL() << "there is no such file";
  } catch (const std::filesystem::filesystem_error& error) {
    EXPECT_EQ(message_of(error), "[file] no-such-file and elsewhere: No such file or directory");
  }
}

}  // namespace
}  // namespace heed::io
