// Writing packed texts: the same bytes with any number of threads, bad lines, and nothing at all.
#include "heed/data/packed_text_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/base/threads.h"
#include "heed/io/file.h"
#include "heed/text/characters.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::HasSubstr;

TEST(PackText, WritesTheSameBytesWithAnyNumberOfThreads) {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 200; ++i) text += std::to_string(i * i) + "\n";
  io::write_file(dir / "text", text);
  const Characters digits(count_characters(text));
  const int before = num_threads();
  std::int64_t told = 0;
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    pack_text(dir / "text", digits, dir / std::to_string(threads),
              {.file_tokens = 64, .block_tokens = 16, .progress = [&](std::int64_t lines) {
                 told = lines;
               }});
  }
  set_num_threads(before);
  EXPECT_EQ(told, 200);
  const PackedText one(dir / "1");
  EXPECT_EQ(one.fingerprint(), PackedText(dir / "3").fingerprint());
  EXPECT_EQ(one.info().checksums.size(), static_cast<std::size_t>((one.size() + 63) / 64));
}

TEST(PackText, StopsAtBadLinesOrLeavesThemOut) {
  const TempDir dir;
  io::write_file(dir / "text", "ab\nb\xff\n\na\n");
  const Characters letters(count_characters("ab\n"));
  EXPECT_THAT(error_message([&] { pack_text(dir / "text", letters, dir / "packed"); }),
              HasSubstr("text:2"));
  EXPECT_FALSE(std::filesystem::exists(dir / "packed"));
  const TextPackingReport report =
      pack_text(dir / "text", letters, dir / "packed", {.on_bad = OnBad::skip});
  EXPECT_EQ(report.bad.total(), 1);
  EXPECT_EQ(report.lines, 4);
  EXPECT_EQ(PackedText(dir / "packed").size(), report.tokens);
}

TEST(PackText, NothingToPackIsAnError) {
  const TempDir dir;
  io::write_file(dir / "text", "");
  const Characters letters(count_characters("ab"));
  EXPECT_THAT(error_message([&] { pack_text(dir / "text", letters, dir / "packed"); }),
              HasSubstr("there is nothing to pack"));
  EXPECT_FALSE(std::filesystem::exists(dir / "packed"));
}

}  // namespace
}  // namespace heed
