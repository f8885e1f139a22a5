#include "heed/io/append_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::io {
namespace {

using testing::HasSubstr;

TEST(AppendFile, GrowsBehindWhatIsThere) {
  const TempDir dir;
  write_file(dir / "log", "one\n");
  AppendFile file(dir / "log");
  file.write("two\n");
  EXPECT_EQ(read_file(dir / "log", 100), "one\ntwo\n") << "nothing is kept back";
  file.write("");
  file.write(std::string("\0x", 2));
  EXPECT_EQ(read_file(dir / "log", 100), std::string("one\ntwo\n\0x", 10));
}

TEST(AppendFile, SaysWhatTheSystemSaid) {
  const TempDir dir;
  EXPECT_THAT(error_message([&] { AppendFile(dir / "none/log"); }),
              HasSubstr("none/log: No such file or directory"));
  if (std::filesystem::exists("/dev/full")) {
    AppendFile full("/dev/full");
    EXPECT_THAT(error_message([&] { full.write("x"); }), HasSubstr("/dev/full: No space left"));
  }
}

}  // namespace
}  // namespace heed::io
