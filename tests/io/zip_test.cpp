// Zip archives of stored entries: in place, with and without zip64, and every way they can be
// wrong.
#include "heed/io/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/io/safetensors_support.h"
#include "tests/io/zip_support.h"
#include "tests/support/error_message.h"

namespace heed::io::zip_test {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view file) {
  const AlignedBytes bytes(file);
  return error_message([&] { ZipArchive::parse(bytes.span(), "torch", "m.bin"); });
}

std::string_view content(const ZipEntry* entry) {
  return {reinterpret_cast<const char*>(entry->bytes.data()), entry->bytes.size()};
}

TEST(Zip, ReadsStoredEntriesInPlace) {
  for (const bool end_64 : {false, true}) {
    for (const bool in_64 : {false, true}) {
      const std::string file = zip_text(
          {{.name = "b/x", .content = "hello", .in_64 = in_64}, {.name = "a", .content = ""}},
          {.end_64 = end_64, .comment = "a comment"});
      const AlignedBytes bytes(file);
      const ZipArchive archive = ZipArchive::parse(bytes.span(), "torch", "m.bin");
      ASSERT_EQ(archive.entries().size(), 2u);
      EXPECT_EQ(archive.entries()[0].name, "a") << "sorted";
      EXPECT_EQ(content(archive.find("b/x")), "hello");
      EXPECT_GE(archive.find("b/x")->bytes.data(), bytes.span().data());
      EXPECT_EQ(content(archive.find("a")), "");
      EXPECT_EQ(archive.find("b"), nullptr);
      archive.check_crc(*archive.find("b/x"));
    }
  }
}

TEST(Zip, MayBeEmpty) { EXPECT_EQ(error_of(zip_text({})), "(no error)"); }

TEST(Zip, CompressedAndEncryptedEntriesAreRefused) {
  EXPECT_THAT(error_of(zip_text({{.name = "x", .content = "abc", .method = 8}})),
              HasSubstr("[torch] m.bin: byte 37: entry \"x\" is compressed (method 8)"));
  EXPECT_THAT(error_of(zip_text({{.name = "x", .content = "abc", .flags = 1}})),
              HasSubstr("entry \"x\" is encrypted"));
}

TEST(Zip, TheChecksumIsComparedWhenAsked) {
  const AlignedBytes bytes(zip_text({{.name = "x", .content = "abc", .crc_change = 1}}));
  const ZipArchive archive = ZipArchive::parse(bytes.span(), "torch", "m.bin");
  EXPECT_THAT(error_message([&] { archive.check_crc(*archive.find("x")); }),
              HasSubstr("the checksum of entry \"x\" is wrong"));
}

TEST(Zip, EveryCutIsRefused) {
  const std::string file = zip_text({{.name = "x", .content = "abc"}}, {.end_64 = true});
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(error_of(file.substr(0, size)), "(no error)") << size;
  }
  EXPECT_THAT(error_of("short"), HasSubstr("5 bytes long: a zip archive has at least 22"));
  EXPECT_THAT(error_of(file.substr(0, file.size() - 1)), HasSubstr("no end record"));
}

TEST(Zip, TheDirectoryMustAgreeWithTheEntries) {
  const std::vector<ZipPart> one = {{.name = "x", .content = "abc"}};
  EXPECT_THAT(error_of(zip_text(one, {.count_change = 1})), HasSubstr("too few for 2 entries"));
  EXPECT_THAT(error_of(zip_text(one, {.count_change = -1})),
              HasSubstr("bytes follow the last entry"));
  EXPECT_THAT(error_of(zip_text(one, {.size_change = 1})), HasSubstr("reaches beyond byte"));
  EXPECT_NE(error_of(zip_text(one, {.size_change = -1})), "(no error)");
  EXPECT_THAT(error_of(zip_text({{.name = "x", .content = "abc", .local_name = "y"}})),
              HasSubstr("the local header of entry \"x\" at byte 0 differs"));
  EXPECT_THAT(error_of(zip_text({one[0], one[0]})), HasSubstr("entry \"x\" occurs twice"));
  EXPECT_THAT(error_of(zip_text({one[0], one[0]}, {.same_offset = true})),
              HasSubstr("entry \"x\" begins at byte 0, inside entry \"x\""));
}

TEST(Zip, EveryChangedByteIsRefusedOrHarmless) {
  const std::string good =
      zip_text({{.name = "x", .content = "abc"}, {.name = "y", .content = "z", .in_64 = true}},
               {.end_64 = true});
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int value : {0, 1, 127, 255}) {
      std::string file = good;
      file[i] = static_cast<char>(value);
      const AlignedBytes bytes(file);
      try {
        const ZipArchive archive = ZipArchive::parse(bytes.span(), "torch", "m.bin");
        for (const ZipEntry& entry : archive.entries()) {
          EXPECT_GE(entry.bytes.data(), bytes.span().data());
          EXPECT_LE(entry.bytes.data() + entry.bytes.size(),
                    bytes.span().data() + bytes.span().size());
        }
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace heed::io::zip_test
