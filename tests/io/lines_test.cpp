// Lines: their ends, their numbers, their greatest length.
#include "heed/io/lines.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/gzip.h"
#include "tests/support/temp_dir.h"

namespace heed::io {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& bytes) {
  const TempDir folder;
  write_file(folder / "file", bytes);
  LineReader reader(folder / "file");
  EXPECT_EQ(reader.line_number(), 0);
  Lines lines;
  for (std::string line; reader.next(line);) {
    lines.push_back(line);
    EXPECT_EQ(reader.line_number(), static_cast<std::int64_t>(lines.size()));
  }
  std::string line;
  EXPECT_FALSE(reader.next(line)) << "the end is the end";
  EXPECT_EQ(reader.line_number(), static_cast<std::int64_t>(lines.size()));
  return lines;
}

TEST(Lines, EndInEveryWay) {
  EXPECT_THAT(lines_of(""), IsEmpty());
  EXPECT_THAT(lines_of("\n"), ElementsAre(""));
  EXPECT_THAT(lines_of("a\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(lines_of("a\r\nb\r\n"), ElementsAre("a", "b"));
  EXPECT_THAT(lines_of("a\rb\n\r\r\n"), ElementsAre("a\rb", "\r"));
  EXPECT_THAT(lines_of(std::string("a\0b\n\xff\n", 6)),
              ElementsAre(std::string("a\0b", 3), "\xff"));
}

TEST(Lines, MayBeLongerThanTheBuffer) {
  // The sizes put a line end on, before and after the end of a 64 KB buffer.
  for (const std::size_t size : {65535u, 65536u, 65537u, 200000u}) {
    const std::string line(size, 'x');
    EXPECT_THAT(lines_of(line + "\r\nend"), ElementsAre(line, "end"));
    EXPECT_THAT(lines_of(test::gzip(line + "\nend\n")), ElementsAre(line, "end"));
  }
}

TEST(Lines, RefusesALineWithoutEnd) {
  const TempDir folder;
  write_file(folder / "file", "short\n" + std::string(100001, 'x'));
  LineReader reader(folder / "file", 100000);
  std::string line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_THAT(error_message([&] { reader.next(line); }),
              AllOf(HasSubstr((folder / "file").string() + ":2: "), HasSubstr("100000 bytes")));
  LineReader wider(folder / "file", 100001);
  while (wider.next(line)) continue;
  EXPECT_EQ(wider.line_number(), 2);
}

TEST(Lines, KnowsItsPlace) {
  const TempDir folder;
  write_file(folder / "file", "a\nb\n");
  LineReader reader(folder / "file");
  std::string line;
  while (reader.next(line)) continue;
  EXPECT_EQ(reader.place(), (folder / "file").string() + ":2");
  EXPECT_EQ(LineReader("-").name(), "standard input");
}

TEST(Lines, KnowsWhetherALineIsAtHand) {
  const TempDir folder;
  write_file(folder / "file", "a\nb\nc");
  LineReader reader(folder / "file");
  std::string line;
  EXPECT_FALSE(reader.has_line()) << "nothing is read yet";
  reader.next(line);
  EXPECT_TRUE(reader.has_line());
  reader.next(line);
  EXPECT_FALSE(reader.has_line()) << "the last one may go on";
  reader.next(line);
  EXPECT_EQ(line, "c");
}

// Decompression makes more than one buffer of what one read of a pipe gave.
TEST(Lines, LinesInsideZlibAreAtHand) {
  const TempDir folder;
  const std::filesystem::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int writer = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "the same line\n";
  text += std::string(300'000, 'x') + "\n";
  const std::string packed = test::gzip(text);
  ASSERT_EQ(::write(writer, packed.data(), packed.size()), std::ssize(packed));
  LineReader reader(path);
  std::string line;
  ASSERT_TRUE(reader.next(line));
  int lines = 1;
  // The pipe stays open: a reader that waits for it here would wait for ever.
  for (; reader.has_line(); ++lines) ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(lines, 50'001);
  EXPECT_EQ(line.size(), 300'000u);
  ::close(writer);
}

TEST(Lines, AByteOrderMarkIsNoPartOfTheFirstLine) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_THAT(lines_of(mark + "a\n" + mark + "b\n"), ElementsAre("a", mark + "b"));
  EXPECT_THAT(lines_of(mark), ElementsAre()) << "an empty file";
  EXPECT_THAT(lines_of(mark + "\n"), ElementsAre(""));
  EXPECT_THAT(lines_of(test::gzip(mark + "a")), ElementsAre("a"));
}

}  // namespace
}  // namespace heed::io
