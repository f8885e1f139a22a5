#include "heed/training/checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

void write(Checkpoints& checkpoints, std::int64_t update, bool best = false) {
  checkpoints.write(update, best, [&](const fs::path& folder) {
    io::write_file(folder / "number", std::to_string(update));
  });
}

std::string number_in(const fs::path& folder) { return io::read_file(folder / "number", 100); }

TEST(Checkpoints, LinksLeadToTheLastAndTheBest) {
  const TempDir dir;
  Checkpoints checkpoints(dir / "model", 0);
  EXPECT_FALSE(checkpoints.last());
  write(checkpoints, 9, true);
  write(checkpoints, 10);
  EXPECT_EQ(number_in(dir / "model/checkpoint_last"), "10");
  EXPECT_EQ(number_in(dir / "model/checkpoint_best"), "9");
  EXPECT_EQ(checkpoints.last(), dir / "model/checkpoint_10");
  EXPECT_EQ(checkpoints.updates(), (std::vector<std::int64_t>{9, 10}));
}

TEST(Checkpoints, TheOldestGoButNotTheBest) {
  const TempDir dir;
  Checkpoints checkpoints(dir.path(), 2);
  write(checkpoints, 1);
  write(checkpoints, 2, true);
  for (const std::int64_t update : {3, 4, 5}) write(checkpoints, update);
  EXPECT_EQ(checkpoints.updates(), (std::vector<std::int64_t>{2, 4, 5}));
}

TEST(Checkpoints, AFailedOneLeavesNothing) {
  const TempDir dir;
  Checkpoints checkpoints(dir.path(), 0);
  write(checkpoints, 1);
  EXPECT_EQ(error_message([&] {
              checkpoints.write(2, true, [](const fs::path& folder) {
                io::write_file(folder / "half", "x");
                throw Error("the disk is full");
              });
            }),
            "the disk is full");
  EXPECT_EQ(number_in(*checkpoints.last()), "1");
  EXPECT_FALSE(fs::exists(dir / "checkpoint_best"));
}

TEST(Checkpoints, ALinkThatCannotBeWrittenLeavesNothing) {
  const TempDir dir;
  fs::create_directories(dir / "checkpoint_last/in the way");
  Checkpoints checkpoints(dir.path(), 0);
  EXPECT_THAT(error_message([&] { write(checkpoints, 1); }),
              testing::HasSubstr("cannot write the link"));
  EXPECT_FALSE(fs::is_symlink(dir / ".heed-link"));
}

// As a killed process may leave it: half a checkpoint, half a removal, a link that did not move.
TEST(Checkpoints, StraysAreClearedAwayByTheNextOne) {
  const TempDir dir;
  {
    Checkpoints checkpoints(dir.path(), 0);
    write(checkpoints, 1);
    write(checkpoints, 2);
  }
  fs::create_directory(dir / ".heed-checkpoint");
  fs::create_directory(dir / ".heed-dropped");
  std::ofstream(dir / ".heed-dropped/number") << "0";
  fs::remove(dir / "checkpoint_last");
  fs::create_directory_symlink("checkpoint_1", dir / "checkpoint_last");
  fs::create_directory_symlink("checkpoint_2", dir / ".heed-link");
  Checkpoints checkpoints(dir.path(), 0);
  EXPECT_EQ(number_in(*checkpoints.last()), "2");
  EXPECT_TRUE(fs::exists(dir / ".heed-checkpoint"));  // it might be another process's
  write(checkpoints, 3);
  EXPECT_EQ(number_in(dir / "checkpoint_last"), "3");
  for (const char* const name : {".heed-checkpoint", ".heed-dropped", ".heed-link"}) {
    EXPECT_FALSE(fs::exists(fs::symlink_status(dir / name))) << name;
  }
  EXPECT_EQ(number_in(dir / "checkpoint_2"), "2");
}

// A child process may write only small files: a write beyond the limit fails as on a full disk.
TEST(Checkpoints, AFullDiskLeavesNothing) {
  const TempDir dir;
  Checkpoints checkpoints(dir.path(), 0);
  write(checkpoints, 1);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 4096, .rlim_max = 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    const std::string message = error_message([&] {
      checkpoints.write(2, false, [](const fs::path& folder) {
        io::write_file(folder / "small", "x");
        io::write_file(folder / "large", std::string(100000, 'x'));
      });
    });
    _exit(message.find("cannot write") != std::string::npos ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(dir.names(), (std::vector<std::string>{"checkpoint_1", "checkpoint_last"}));
}

TEST(Checkpoints, LeftoversOfKilledProcessesAreRemoved) {
  const TempDir dir;
  const Checkpoints checkpoints(dir.path(), 0);
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  ASSERT_EQ(waitpid(gone, nullptr, 0), gone);
  const std::string running = fmt::format(".heed-{}-0.tmp", ::getpid());
  for (const std::string& name : {fmt::format(".heed-{}-0.tmp", gone), running,
                                  std::string(".heed-1x-0.tmp"), std::string("notes.tmp")}) {
    std::ofstream(dir / name) << "x";
  }
  fs::create_directories(dir / ".heed-checkpoint/part");
  fs::create_directory(dir / ".heed-dropped");
  fs::create_directory_symlink("checkpoint_2", dir / ".heed-link");
  checkpoints.remove_leftovers();
  std::vector<std::string> expected = {running, ".heed-1x-0.tmp", "notes.tmp"};
  std::ranges::sort(expected);
  EXPECT_EQ(dir.names(), expected);
}

TEST(Checkpoints, WrongUseSaysWhatIsWrong) {
  const TempDir dir;
  std::ofstream(dir / "file") << "x";
  EXPECT_NE(
      error_message([&] { Checkpoints(dir / "file", 0); }).find("[train] cannot make the folder"),
      std::string::npos);
  Checkpoints checkpoints(dir.path(), 0);
  write(checkpoints, 1);
  EXPECT_EQ(error_message([&] { write(checkpoints, 1); }),
            fmt::format("[folder] {} exists already: choose another name",
                        (dir / "checkpoint_1").string()));
}

}  // namespace
}  // namespace heed
