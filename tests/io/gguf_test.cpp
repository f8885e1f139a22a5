// Reading GGUF: in place, and every way a file can be wrong is refused by name and byte.
#include "heed/io/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/io/gguf_support.h"
#include "tests/io/safetensors_support.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed::io::gguf_test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;

std::string error_of(std::string_view file, GgufOptions options = {}) {
  const AlignedBytes bytes(file);
  return error_message([&] { GgufFile::parse(bytes.span(), options, "m.gguf"); });
}
std::string error_of(const GgufParts& parts) { return error_of(gguf_text(parts)); }

// One F32 tensor "t" of the given sizes and offset over `bytes` bytes of data.
std::string tensor_error(std::vector<std::uint64_t> sizes, std::uint32_t type, std::uint64_t offset,
                         std::size_t bytes) {
  return error_of(
      {.lines = {{"t", std::move(sizes), type, offset}}, .data = std::string(bytes, 'x')});
}

TEST(Gguf, ReadsTheFileOfThePackageGguf) {
  const GgufFile file = GgufFile::open(test::golden_path("small.gguf"));
  EXPECT_EQ(file.version(), 3u);
  ASSERT_EQ(file.entries().size(), 6u);
  const TensorEntry& f32 = file.entries()[0];
  EXPECT_EQ(f32.name, "f32");
  EXPECT_EQ(f32.type, TensorType::F32);
  EXPECT_EQ(f32.shape, Shape({2, 3})) << "the file has {3, 2}";
  EXPECT_TRUE(f32.row_major());
  EXPECT_EQ(reinterpret_cast<const float*>(f32.bytes.data())[5], 5.0f);
  EXPECT_EQ(file.entries()[1].type, TensorType::F16);
  EXPECT_EQ(file.entries()[2].shape, Shape({2, 1}));
  EXPECT_EQ(file.entries()[3].type, TensorType::BF16);
  EXPECT_EQ(file.entries()[4].shape, Shape({2, 32}));
  EXPECT_EQ(file.entries()[5].type, TensorType::Q6_K);
  EXPECT_EQ(file.entries()[5].bytes.size(), 420u);
  const auto whole = file.keeper()->bytes();
  for (const TensorEntry& entry : file.entries()) {
    EXPECT_EQ((entry.bytes.data() - whole.data()) % 32, 0) << entry.name;
  }
}

TEST(Gguf, EveryCutIsRefused) {
  const auto file = MappedFile::open(test::golden_path("small.gguf"));
  // The last tensor ends before the padding of the file.
  const GgufFile whole = GgufFile::parse(file->bytes());
  std::size_t end = 0;
  for (const TensorEntry& e : whole.entries()) {
    end = std::max<std::size_t>(end, e.bytes.data() + e.bytes.size() - file->bytes().data());
  }
  for (std::size_t size = 0; size < end; ++size) {
    EXPECT_THROW(GgufFile::parse(file->bytes().first(size)), Error) << size;
  }
}

TEST(Gguf, ReadsVersion2AndFilesWithoutTensors) {
  EXPECT_EQ(error_of({.version = 2}), "(no error)");
  EXPECT_EQ(error_of(ByteBuilder().text("GGUF").u32(3).u64(0).u64(0).str()), "(no error)");
}

TEST(Gguf, OtherVersionsAndFilesAreRefused) {
  EXPECT_THAT(error_of("GGML????"),
              HasSubstr("[gguf] m.gguf: byte 0: the file begins with \"GGML\""));
  EXPECT_THAT(error_of("GG"), HasSubstr("the magic at byte 0 needs 4 bytes, and 2 are left"));
  EXPECT_THAT(error_of({.version = 1}),
              HasSubstr("byte 4: the version is 1: heed reads versions 2"));
  EXPECT_THAT(error_of({.version = 4}), HasSubstr("the version is 4"));
  EXPECT_THAT(error_of({.version = 0x03000000}), HasSubstr("the file is big endian"));
}

TEST(Gguf, CountsBeyondTheFileAreRefusedAtOnce) {
  EXPECT_THAT(error_of(ByteBuilder().text("GGUF").u32(3).u64(kHuge).u64(0).str()),
              HasSubstr("byte 8: 9223372036854775808 tensors: the limit is"));
  EXPECT_THAT(error_of(ByteBuilder().text("GGUF").u32(3).u64(0).u64(kHuge).str()),
              HasSubstr("9223372036854775808 metadata keys"));
  EXPECT_THAT(error_of(ByteBuilder().text("GGUF").u32(3).u64(100000).u64(0).str()),
              HasSubstr("the length of a tensor's name at byte 24 needs 8 bytes, and 0 are left"));
}

TEST(Gguf, NamesAreCheckedOneByOneAndTogether) {
  EXPECT_THAT(error_of({.lines = {{"", {1}, 0, 0}}, .data = "1234"}),
              HasSubstr("the name of tensor 0 has 0 bytes"));
  EXPECT_THAT(error_of({.lines = {{std::string(1025, 'n'), {1}, 0, 0}}, .data = "1234"}),
              HasSubstr("the name of tensor 0 has 1025 bytes"));
  EXPECT_THAT(error_of({.lines = {{"a", {1}, 0, 0}, {"b", {1}, 0, 32}, {"a", {1}, 0, 64}},
                        .data = std::string(68, 'x')}),
              HasSubstr("tensor \"a\" (table, byte 90): the name occurs twice; first at byte 24"));
}

TEST(Gguf, SizesThatOverflowAreRefused) {
  EXPECT_THAT(tensor_error({kHuge}, 0, 0, 4), HasSubstr("a size is 9223372036854775808"));
  EXPECT_THAT(tensor_error({kHuge - 1}, 0, 0, 4), HasSubstr("overflows"));
  EXPECT_THAT(tensor_error({1ull << 32, 1ull << 31}, 0, 0, 4), HasSubstr("overflows"));
  EXPECT_THAT(tensor_error({1ull << 62, 4, 0}, 0, 0, 4), HasSubstr("overflows"));
  EXPECT_THAT(tensor_error({1, 1, 1, 1, 1, 1, 1, 1, 1}, 0, 0, 4),
              HasSubstr("it has 9 dimensions: at most 8"));
  EXPECT_THAT(tensor_error({33}, 2, 0, 36),
              HasSubstr("shape [33] of Q4_0 overflows or does not fill whole blocks of 32"));
  EXPECT_THAT(tensor_error({32}, 4, 0, 36), HasSubstr("its type is 4, a number that heed"));
  EXPECT_THAT(tensor_error({32}, 1000, 0, 36), HasSubstr("its type is 1000"));
  EXPECT_EQ(tensor_error({32}, 2, 0, 18), "(no error)");
  EXPECT_EQ(tensor_error({}, 0, 0, 4), "(no error)") << "a scalar";
  EXPECT_EQ(tensor_error({3, 0}, 0, 0, 0), "(no error)") << "no elements";
  const std::string table = ByteBuilder().text("GGUF").u32(3).u64(1).u64(0).str() +
                            ByteBuilder().counted("t").u32(1).u64(0).u32(0).u64(0).str();
  EXPECT_EQ(error_of(table), "(no error)") << "no elements, and no padding after the table";
}

TEST(Gguf, OffsetsMustBeTrue) {
  EXPECT_THAT(tensor_error({2}, 0, 8, 20),
              HasSubstr("its offset 8 is not a multiple of the alignment 32"));
  EXPECT_THAT(tensor_error({2}, 0, 0, 7),
              HasSubstr("8 bytes at offset 0 reach beyond the data, which has 7 bytes"));
  EXPECT_THAT(tensor_error({2}, 0, ~0ull - 31, 8), HasSubstr("reach beyond the data"));
  EXPECT_THAT(tensor_error({2}, 0, 32, 40),
              HasSubstr("bytes 64 to 96 between the table and its data belong to no tensor"));
  EXPECT_THAT(tensor_error({2}, 0, 0, 41),
              HasSubstr("33 bytes follow tensor \"t\", which ends at byte 72"));
  EXPECT_EQ(tensor_error({2}, 0, 0, 32), "(no error)") << "padding to the alignment";
}

TEST(Gguf, TrailingBytesCanBeAllowed) {
  const std::string file = gguf_text({.lines = {{"t", {2}, 0, 0}}, .data = std::string(100, 'x')});
  EXPECT_EQ(error_of(file, {.allow_trailing_bytes = true}), "(no error)");
}

TEST(Gguf, TensorsMayNotOverlapOrLeaveGaps) {
  const auto two = [](std::uint64_t first, std::uint64_t second) {
    return error_of({.lines = {{"a", {16}, 0, first}, {"b", {16}, 0, second}},
                     .data = std::string(std::max(first, second) + 64, 'x')});
  };
  EXPECT_EQ(two(0, 64), "(no error)");
  EXPECT_EQ(two(64, 0), "(no error)") << "the table need not be sorted";
  EXPECT_THAT(
      two(0, 32),
      HasSubstr("its data begins at byte 128, inside tensor \"a\", which ends at byte 160"));
  EXPECT_THAT(two(0, 0), HasSubstr("inside tensor"));
  EXPECT_THAT(two(0, 96), HasSubstr("between tensor \"a\" and its data belong to no tensor"));
}

TEST(Gguf, TheAlignmentIsAPowerOfTwo) {
  const auto with = [](std::uint32_t alignment) {
    return error_of({.alignment = alignment, .lines = {{"t", {1}, 0, 0}}, .data = "1234"});
  };
  EXPECT_EQ(with(64), "(no error)");
  EXPECT_EQ(with(8), "(no error)");
  EXPECT_THAT(with(24), HasSubstr("general.alignment is 24: it must be a power of 2"));
  EXPECT_THAT(with(1u << 21), HasSubstr("general.alignment is 2097152"));
}

}  // namespace
}  // namespace heed::io::gguf_test
