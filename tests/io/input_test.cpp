// Byte streams: plain and packed files give the same bytes, damaged ones a message, pipes no delay.
#include "heed/io/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

#include <chrono>
#include <string>
#include <thread>

#include "heed/base/random.h"
#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/gzip.h"
#include "tests/support/temp_dir.h"

namespace heed::io::input_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kMany = std::size_t{64} << 20;

// Text that does not compress away, longer than every buffer.
std::string long_text() {
  const RandomStream random{7, 0};
  std::string text;
  for (std::uint64_t i = 0; i < 300000; ++i) {
    text += static_cast<char>('a' + static_cast<int>(26.0f * random.uniform(i)));
  }
  return text;
}

std::string read_back(const TempDir& folder, const std::string& bytes) {
  write_file(folder / "file", bytes);
  return read_input(folder / "file", kMany);
}

TEST(Input, PlainAndPackedGiveTheSame) {
  const TempDir folder;
  for (const std::string& text : {std::string(), std::string("a"), std::string("\n"),
                                  std::string("\x1f"), std::string("\x1f\n"), long_text()}) {
    EXPECT_EQ(read_back(folder, text), text);
    EXPECT_EQ(read_back(folder, test::gzip(text)), text);
  }
}

TEST(Input, ReadsSeveralPackedFilesInOne) {
  const TempDir folder;
  const std::string text = long_text();
  EXPECT_EQ(
      read_back(folder, test::gzip("a") + test::gzip("") + test::gzip(text) + test::gzip("b")),
      "a" + text + "b");
}

TEST(Input, RefusesEveryCutOffPackedFile) {
  const TempDir folder;
  const std::string packed = test::gzip("one line\nanother line\n");
  for (std::size_t size = 2; size < packed.size(); ++size) {
    EXPECT_THAT(error_message([&] { read_back(folder, packed.substr(0, size)); }),
                AllOf(HasSubstr((folder / "file").string()), HasSubstr("cut off"),
                      HasSubstr(fmt::format("at byte {}", size))));
  }
}

TEST(Input, RefusesDamagedPackedFiles) {
  const TempDir folder;
  std::string packed = test::gzip("one line\nanother line\n");
  EXPECT_THAT(error_message([&] { read_back(folder, packed + "more"); }), HasSubstr("damaged"));
  packed[packed.size() - 6] ^= 1;  // the check sum
  EXPECT_THAT(error_message([&] { read_back(folder, packed); }),
              AllOf(HasSubstr("damaged"), HasSubstr("incorrect data check")));
}

TEST(Input, SaysWhyItCannotRead) {
  const TempDir folder;
  EXPECT_THAT(error_message([&] { Input(folder / "none"); }),
              AllOf(HasSubstr("cannot open"), HasSubstr("none"), HasSubstr("No such file")));
  EXPECT_THAT(error_message([&] { read_input(folder.path(), kMany); }),
              AllOf(HasSubstr("cannot read"), HasSubstr("directory")));
  write_file(folder / "file", "12345");
  EXPECT_THAT(error_message([&] { read_input(folder / "file", 4); }), HasSubstr("larger than 4"));
}

TEST(Input, GivesWhatAPipeHasWithoutWaitingForMore) {
  const TempDir folder;
  const std::filesystem::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int writer = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  Input input(path);
  std::string buffer(1000, ' ');
  // Would block for ever if it waited for a second byte.
  ASSERT_EQ(::write(writer, "\n", 1), 1);
  EXPECT_EQ(input.read(buffer), 1u);
  ASSERT_EQ(::write(writer, "text", 4), 4);
  EXPECT_EQ(input.read(buffer), 4u);
  EXPECT_EQ(buffer.substr(0, 4), "text");
  ::close(writer);
  EXPECT_EQ(input.read(buffer), 0u);
  EXPECT_EQ(input.read(buffer), 0u);
}

TEST(Input, ZeroBytesMayFollowPackedData) {
  const TempDir folder;
  const std::string zeros(100'000, '\0');
  const std::string packed = test::gzip("a");
  EXPECT_EQ(read_back(folder, packed + '\0'), "a");
  EXPECT_EQ(read_back(folder, packed + zeros), "a");
  EXPECT_EQ(read_back(folder, packed + zeros + test::gzip("b") + zeros), "ab");
  const std::string message = error_message([&] { read_back(folder, packed + zeros + "x"); });
  EXPECT_THAT(message, AllOf(HasSubstr("not gzip follow the compressed data"),
                             HasSubstr(fmt::format("byte {}", packed.size() + zeros.size()))));
}

TEST(Input, RemovesAByteOrderMark) {
  const TempDir folder;
  const std::string mark = "\xEF\xBB\xBF";
  for (const std::string& text : {std::string(), std::string("a"), mark, long_text()}) {
    EXPECT_EQ(read_back(folder, mark + text), text);
    EXPECT_EQ(read_back(folder, test::gzip(mark + text)), text);
  }
  for (const std::string& text : {mark.substr(0, 1), mark.substr(0, 2), "a" + mark}) {
    EXPECT_EQ(read_back(folder, text), text) << "no mark at the beginning";
  }
  write_file(folder / "file", mark + "a");
  Input kept(folder / "file", ByteOrderMark::keep);
  std::string buffer(10, ' ');
  EXPECT_EQ(kept.read(buffer), 4u);
}

TEST(Input, FindsAMarkThatComesInPieces) {
  const TempDir folder;
  const std::filesystem::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int writer = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  Input input(path);
  std::thread slow([&] {
    for (const char* const byte : {"\xEF", "\xBB", "\xBF", "a"}) {
      ASSERT_EQ(::write(writer, byte, 1), 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  std::string buffer(10, ' ');
  EXPECT_EQ(input.read(buffer), 1u);
  EXPECT_EQ(buffer[0], 'a');
  slow.join();
  ::close(writer);
}

TEST(Input, GivesAllThatItHasReadWithoutReadingMore) {
  const TempDir folder;
  const std::filesystem::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int writer = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  const std::string packed = test::gzip(std::string(500'000, 'a'));
  ASSERT_EQ(::write(writer, packed.data(), packed.size()), std::ssize(packed));
  Input input(path);
  std::string buffer(1000, ' ');
  EXPECT_EQ(input.read_buffered(buffer), 0u) << "nothing is read yet";
  std::size_t total = input.read(buffer);
  // The pipe stays open: read() would wait for ever at the end.
  while (const std::size_t n = input.read_buffered(buffer)) total += n;
  EXPECT_EQ(total, 500'000u);
  ::close(writer);
}

}  // namespace
}  // namespace heed::io::input_test
