#include "heed/io/descriptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::io {
namespace {

using testing::HasSubstr;

TEST(Descriptor, TemporariesHaveNamesOfTheirOwn) {
  const TempDir dir;
  const auto [first, one] = open_temporary(dir.path());
  const auto [second, other] = open_temporary(dir.path());
  EXPECT_NE(one, other);
  const std::string text = "abc";
  write_all(second, std::as_bytes(std::span(text)), other);
  EXPECT_EQ(read_file(other, 10), "abc");
  ::close(first);
  ::close(second);
  EXPECT_THAT(error_message([&] { open_temporary(dir / "none"); }),
              HasSubstr("cannot create a file in " + (dir / "none").string()));
}

TEST(Descriptor, ALeftoverIsATemporaryOfAProcessThatIsGone) {
  const TempDir dir;
  const auto [descriptor, path] = open_temporary(dir.path());
  ::close(descriptor);
  EXPECT_FALSE(is_leftover(path)) << "this process runs";
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  ASSERT_EQ(waitpid(gone, nullptr, 0), gone);
  EXPECT_TRUE(is_leftover(fmt::format("a/.heed-{}-12.tmp", gone)));
  for (const char* const name :
       {".heed-lock", ".heed-link", ".heed-x-1.tmp", ".heed-0-1.tmp", ".heed--5-1.tmp",
        ".heed-99999999999999999-1.tmp", ".heed-5-1.tmp.bak", "heed-5-1.tmp"}) {
    EXPECT_FALSE(is_leftover(name)) << name;
  }
}

TEST(Descriptor, AReplacementIsNamedAfterItsTarget) {
  const auto name = replacement_name("a/b");
  EXPECT_EQ(name.parent_path(), "a");
  EXPECT_EQ(name.filename(), replacement_name("b").filename());
  EXPECT_NE(name, replacement_name("a/c"));
  EXPECT_EQ(replacement_name(std::string(255, 'x')).filename().string().size(), 26u);
}

TEST(Descriptor, AWriteThatFailsSaysWhere) {
  const std::string text = "abc";
  EXPECT_THAT(error_message([&] { write_all(-1, std::as_bytes(std::span(text)), "there"); }),
              HasSubstr("[file] cannot write there"));
}

TEST(Descriptor, ANameAloneIsInThisFolder) {
  EXPECT_EQ(directory_of("a"), ".");
  EXPECT_EQ(directory_of("b/a"), "b");
}

}  // namespace
}  // namespace heed::io
