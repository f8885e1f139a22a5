#include "heed/io/folder_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::io {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(FolderLock, OneAtATime) {
  const TempDir dir;
  std::optional<FolderLock> lock(std::in_place, dir.path(), "train");
  EXPECT_THAT(error_message([&] { FolderLock(dir.path(), "train"); }),
              AllOf(HasSubstr(fmt::format("[train] process {} is using", ::getpid())),
                    HasSubstr(fmt::format("(kill {})", ::getpid()))));
  lock.reset();
  EXPECT_EQ(error_message([&] { FolderLock(dir.path(), "train"); }), "(no error)");
}

// No handler of the dead process can have released it.
TEST(FolderLock, TheKernelReleasesIt) {
  const TempDir dir;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(dir.path(), "train");
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THAT(error_message([&] { FolderLock(dir.path(), "train"); }),
              HasSubstr(fmt::format("process {} is using", child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(error_message([&] { FolderLock(dir.path(), "train"); }), "(no error)");
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(FolderLock, TheFolderMustExist) {
  const TempDir dir;
  EXPECT_THAT(error_message([&] { FolderLock(dir / "none", "train"); }),
              HasSubstr("none: No such file or directory"));
}

}  // namespace
}  // namespace heed::io
