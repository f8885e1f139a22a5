// Files: mapping, reading, and that a target is never half-written, whatever goes wrong.
#include "heed/io/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "heed/io/descriptor.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr std::size_t kMany = 1 << 20;

std::string text_of(const std::filesystem::path& path) { return read_file(path, kMany); }

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

// Makes every write beyond `bytes` fail (EFBIG), as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(MappedFile, ShowsTheBytesAndOutlivesTheFile) {
  const TempDir dir;
  write_file(dir / "a", "hello");
  const auto mapped = MappedFile::open(dir / "a");
  std::filesystem::remove(dir / "a");
  ASSERT_EQ(mapped->bytes().size(), 5u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(mapped->bytes().data()), 5), "hello");
  EXPECT_EQ(mapped->path(), dir / "a");
}

TEST(MappedFile, ForgottenBytesCanBeReadAgain) {
  const TempDir dir;
  const std::string content(100'000, 'x');
  write_file(dir / "a", content);
  const auto mapped = MappedFile::open(dir / "a");
  const auto whole = [&] {
    return std::string(reinterpret_cast<const char*>(mapped->bytes().data()), content.size());
  };
  EXPECT_EQ(whole(), content);
  for (const std::size_t begin : {0, 1, 4096, 5000, 99'999, 100'000}) {
    mapped->forget(mapped->bytes().subspan(begin));
    mapped->forget(mapped->bytes().first(begin));
    EXPECT_EQ(whole(), content);
  }
}

TEST(MappedFile, MayBeEmpty) {
  const TempDir dir;
  write_file(dir / "empty", "");
  EXPECT_TRUE(MappedFile::open(dir / "empty")->bytes().empty());
}

TEST(MappedFile, NamesPathAndReason) {
  const TempDir dir;
  const auto error = [](const std::filesystem::path& path) {
    return error_message([&] { MappedFile::open(path); });
  };
  EXPECT_THAT(error(dir / "none"),
              AllOf(HasSubstr((dir / "none").string()), HasSubstr("No such file")));
  EXPECT_THAT(error(dir.path()), HasSubstr("it is a directory"));
  EXPECT_THAT(error("/dev/null"), HasSubstr("it is not a regular file"));
}

TEST(ReadFile, ReadsAllAndStopsAtTheLimit) {
  const TempDir dir;
  const std::string text(200'000, 'x');  // several blocks
  write_file(dir / "a", text);
  EXPECT_EQ(read_file(dir / "a", text.size()), text);
  EXPECT_THAT(error_message([&] { read_file(dir / "a", text.size() - 1); }),
              HasSubstr("larger than 199999 bytes"));
  EXPECT_THAT(error_message([] { read_file("/dev/zero", kMany); }), HasSubstr("larger than"));
  EXPECT_THAT(error_message([&] { read_file(dir / "none", 1); }), HasSubstr("No such file"));
  EXPECT_THAT(error_message([&] { read_file(dir.path(), 1); }), HasSubstr("Is a directory"));
}

TEST(AtomicFile, AppearsOnlyAtCommit) {
  const TempDir dir;
  write_file(dir / "a", "old");
  {
    AtomicFile file(dir / "a");
    file.write("new ");
    file.write("text");
    EXPECT_EQ(text_of(dir / "a"), "old");
    file.commit();
    EXPECT_EQ(text_of(dir / "a"), "new text");
  }
  EXPECT_EQ(text_of(dir / "a"), "new text");
  EXPECT_THAT(dir.names(), ElementsAre("a"));
}

// So that a kill at any moment leaves either no file or the whole one.
TEST(AtomicFile, ANewFileNeverHasATemporaryName) {
  const TempDir dir;
  const int watch = ::inotify_init1(IN_NONBLOCK);
  ASSERT_GE(::inotify_add_watch(watch, dir.path().c_str(), IN_CREATE | IN_MOVED_FROM), 0);
  write_file(dir / "new", "text");
  std::array<char, 4096> events;
  const ssize_t size = ::read(watch, events.data(), events.size());
  ::close(watch);
  inotify_event event{};
  ASSERT_GT(size, static_cast<ssize_t>(sizeof event));
  std::memcpy(&event, events.data(), sizeof event);
  EXPECT_EQ(size, static_cast<ssize_t>(sizeof event + event.len)) << "more than one event";
  EXPECT_STREQ(events.data() + sizeof event, "new");
}

TEST(AtomicFile, RewritesBytes) {
  const TempDir dir;
  AtomicFile file(dir / "x");
  file.write("0123456789");
  file.rewrite(3, "abc");
  file.write("!");
  file.commit();
  EXPECT_EQ(read_file(dir / "x", 100), "012abc6789!");
}

TEST(AtomicFile, WithoutCommitLeavesNoTrace) {
  const TempDir dir;
  write_file(dir / "a", "old");
  { AtomicFile(dir / "a").write("new"); }
  { AtomicFile(dir / "b").write("new"); }
  EXPECT_EQ(text_of(dir / "a"), "old");
  EXPECT_THAT(dir.names(), ElementsAre("a"));
}

TEST(AtomicFile, FullDiskKeepsTheOldFile) {
  const TempDir dir;
  write_file(dir / "a", "old");
  std::string message;
  {
    const FileSizeLimit limit(4096);
    message = error_message([&] { write_file(dir / "a", std::string(10'000, 'x')); });
  }
  EXPECT_THAT(message, AllOf(HasSubstr("cannot write " + (dir / "a").string()),
                             HasSubstr("File too large")));
  EXPECT_EQ(text_of(dir / "a"), "old");
  EXPECT_THAT(dir.names(), ElementsAre("a"));
}

TEST(AtomicFile, FailedRenameLeavesNoTemporary) {
  const TempDir dir;
  {
    AtomicFile file(dir / "a");
    file.write("new");
    std::filesystem::create_directory(dir / "a");  // in the way
    EXPECT_THAT(error_message([&] { file.commit(); }), HasSubstr("Is a directory"));
  }
  EXPECT_THAT(dir.names(), ElementsAre("a"));
}

TEST(AtomicFile, RefusesWhatCannotBeReplaced) {
  const TempDir dir;
  const auto error = [](const std::filesystem::path& path) {
    return error_message([&] { write_file(path, "text"); });
  };
  EXPECT_THAT(error(dir / "none/a"), AllOf(HasSubstr("none"), HasSubstr("No such file")));
  EXPECT_THAT(error(dir.path()), HasSubstr("it is a directory"));
  EXPECT_THAT(error("/dev/null"), HasSubstr("it is not a regular file"));
  EXPECT_THAT(error(""), HasSubstr("no file name"));
  std::filesystem::create_symlink("none", dir / "link");
  EXPECT_THAT(error(dir / "link"), HasSubstr("broken symbolic link"));
  EXPECT_THAT(dir.names(), ElementsAre("link"));
}

TEST(AtomicFile, ReadOnlyDirectoryKeepsTheOldFile) {
  const TempDir dir;
  write_file(dir / "a", "old");
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0555));
  const uid_t user = ::geteuid();
  constexpr uid_t kNobody = 65534;
  if (user == 0) {  // root writes anywhere
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const std::string message = error_message([&] { write_file(dir / "a", "new"); });
  ASSERT_EQ(::seteuid(user), 0);
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0755));
  EXPECT_THAT(message, HasSubstr("Permission denied"));
  EXPECT_EQ(text_of(dir / "a"), "old");
}

TEST(AtomicFile, KeepsPermissionsAndFollowsLinks) {
  const TempDir dir;
  write_file(dir / "real", "old");
  std::filesystem::permissions(dir / "real", std::filesystem::perms(0640));
  std::filesystem::create_symlink("real", dir / "link");
  write_file(dir / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(dir / "link"));
  EXPECT_EQ(text_of(dir / "real"), "new");
  EXPECT_EQ(mode_of(dir / "real"), 0640u);
}

TEST(AtomicFile, ANewFileFollowsTheUmask) {
  const TempDir dir;
  const mode_t before = ::umask(027);
  write_file(dir / "a", "text");
  ::umask(before);
  EXPECT_EQ(mode_of(dir / "a"), 0640u);
}

// The process dies in the middle of the write: the old file is whole, and nothing else is there. A
// stray temporary of another process is in nobody's way, even with the number of this process.
TEST(AtomicFile, SurvivesAKilledWriter) {
  const TempDir dir;
  write_file(dir / "a", "old");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    AtomicFile file(dir / "a");
    file.write("half");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(text_of(dir / "a"), "old");
  const int unnamed = ::open(dir.path().c_str(), O_TMPFILE | O_WRONLY, 0600);
  EXPECT_EQ(dir.names().size(), unnamed >= 0 ? 1u : 2u);  // some file systems have named files only
  ::close(unnamed);

  write_file(dir / fmt::format(".heed-{}-0.tmp", ::getpid()), "stray");
  write_file(dir / "a", "new");
  EXPECT_EQ(text_of(dir / "a"), "new");
  EXPECT_EQ(text_of(dir / fmt::format(".heed-{}-0.tmp", ::getpid())), "stray");
}

// It was killed just before the rename.
TEST(AtomicFile, RemovesWhatAKilledWriterOfTheFileHasLeft) {
  const TempDir dir;
  write_file(dir / "a", "old");
  write_file(replacement_name(dir / "a"), "complete");
  write_file(replacement_name(dir / "b"), "of another file");
  write_file(dir / "a", "new");
  EXPECT_EQ(text_of(dir / "a"), "new");
  EXPECT_THAT(dir.names(), UnorderedElementsAre("a", replacement_name("b").filename().string()));
  // What cannot be put in its place is an error.
  std::filesystem::create_directory(replacement_name(dir / "a"));
  EXPECT_THAT(error_message([&] { write_file(dir / "a", "newer"); }), HasSubstr("cannot replace"));
  EXPECT_EQ(text_of(dir / "a"), "new");
}

TEST(AtomicFile, ManyWritersAtOnceEachWriteAWholeFile) {
  const TempDir dir;
  constexpr int kWriters = 4;
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 10; ++n) {
        write_file(dir / "shared", std::string(5000, static_cast<char>('a' + i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = text_of(dir / "shared");
  EXPECT_EQ(text, std::string(5000, text[0]));
  EXPECT_THAT(dir.names(), UnorderedElementsAre("shared"));
}

}  // namespace
}  // namespace heed::io
