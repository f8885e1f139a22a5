// Reading safetensors: in place, and every way a file can be wrong is refused by name and byte.
#include "heed/io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/io/safetensors_support.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed::io::safetensors_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Twelve bytes of data: a is [0, 8), b is [8, 12).
constexpr std::string_view kTwo = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                  R"("b":{"dtype":"U8","shape":[2,2],"data_offsets":[8,12]}})";

std::string error_of(std::string_view file, SafetensorsOptions options = {}) {
  const AlignedBytes bytes(file);
  return error_message([&] { SafetensorsFile::parse(bytes.span(), options, "m.st"); });
}

std::string header_error(std::string header, std::string_view data = "") {
  return error_of(safetensors_text(std::move(header), data));
}

// A file of one tensor "t" whose object holds the given text.
std::string tensor_error(std::string_view members, std::string_view data = "") {
  return header_error(fmt::format(R"({{"t":{{{}}}}})", members), data);
}

TEST(Safetensors, ReadsEntriesInPlace) {
  const AlignedBytes bytes(safetensors_text(
      std::string(R"({"__metadata__":{"format":"pt","by":"heed"},)") + std::string(kTwo.substr(1)),
      std::string("\0\0\x80\x3f\0\0\0\x40\1\2\3\4", 12)));
  const SafetensorsFile file = SafetensorsFile::parse(bytes.span());
  ASSERT_EQ(file.entries().size(), 2u);
  const SafetensorsEntry& a = file.find("a");
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.dtype, DType::f32);
  EXPECT_EQ(a.dtype_name, "F32");
  EXPECT_EQ(a.shape, Shape({2}));
  EXPECT_EQ(a.bytes.data(), bytes.span().data() + bytes.span().size() - 12) << "no copy";
  EXPECT_EQ(reinterpret_cast<const float*>(a.bytes.data())[1], 2.0f);
  const SafetensorsEntry& b = file.find("b");
  EXPECT_EQ(b.shape, Shape({2, 2}));
  EXPECT_EQ(b.bytes[3], std::byte{4});
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_TRUE(file.contains("b"));
  EXPECT_FALSE(file.contains("c"));
  EXPECT_EQ(file.keeper(), nullptr);
}

TEST(Safetensors, AMappedFileOutlivesItsReader) {
  const TempDir dir;
  write_file(dir / "m.safetensors",
             safetensors_text(std::string(kTwo), "\1\2\3\4\5\6\7\7\1\2\3\4"));
  std::shared_ptr<const MappedFile> keeper;
  std::span<const std::byte> bytes;
  {
    const SafetensorsFile file = SafetensorsFile::open(dir / "m.safetensors");
    keeper = file.keeper();
    bytes = file.find("b").bytes;
  }
  const std::span<const std::byte> whole = keeper->bytes();
  EXPECT_EQ(bytes.data(), whole.data() + whole.size() - 4) << "the bytes of the mapping itself";
  EXPECT_EQ(bytes[0], std::byte{1});
}

TEST(Safetensors, OrderOfTheHeaderNeedNotBeThatOfTheData) {
  const AlignedBytes bytes(
      safetensors_text(R"({"z":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},)"
                       R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                       R"("e":{"dtype":"F64","shape":[0,3],"data_offsets":[4,4]}})",
                       "abcde"));
  const SafetensorsFile file = SafetensorsFile::parse(bytes.span());
  EXPECT_EQ(file.entries()[0].name, "z");
  EXPECT_EQ(file.find("a").shape, Shape({}));
  EXPECT_EQ(file.find("z").bytes[0], std::byte{'e'});
  EXPECT_TRUE(file.find("e").bytes.empty());
}

TEST(Safetensors, MayHoldNothing) {
  EXPECT_EQ(header_error("{}"), "(no error)");
  EXPECT_EQ(header_error(R"({"__metadata__":{}})"), "(no error)");
}

TEST(Safetensors, AMissingNameSuggestsTheNearest) {
  const AlignedBytes bytes(safetensors_text(
      R"({"encoder.layer.0.weight":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"));
  const SafetensorsFile file = SafetensorsFile::parse(bytes.span(), {}, "m.st");
  EXPECT_EQ(error_message([&] { file.find("encoder.layers.0.weight"); }),
            "[safetensors] m.st: no tensor \"encoder.layers.0.weight\" among 1: did you mean "
            "\"encoder.layer.0.weight\"?");
  EXPECT_EQ(error_message([&] { file.find("q"); }), "[safetensors] m.st: no tensor \"q\" among 1");
}

TEST(Safetensors, TypesThatHeedLacksAreListedNotFound) {
  const AlignedBytes bytes(
      safetensors_text(R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                       R"("q":{"dtype":"F4","shape":[2,3],"data_offsets":[4,7]}})",
                       "1234567"));
  const SafetensorsFile file = SafetensorsFile::parse(bytes.span(), {}, "m.st");
  EXPECT_EQ(file.entries()[0].dtype_name, "F16");
  EXPECT_EQ(file.entries()[0].dtype, std::nullopt);
  EXPECT_EQ(file.entries()[0].bytes.size(), 4u);
  EXPECT_TRUE(file.contains("h"));
  EXPECT_EQ(error_message([&] { file.find("h"); }),
            "[safetensors] m.st: tensor \"h\" is F16, which heed does not compute with: it reads "
            "F32, F64, BF16, I32, I64, U8, BOOL");
  EXPECT_THAT(tensor_error(R"("dtype":"F16","shape":[2],"data_offsets":[0,3])", "123"),
              HasSubstr("hold 3 bytes, shape [2] of F16 needs 4"));
  EXPECT_THAT(tensor_error(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])", "12"),
              HasSubstr("does not fill whole bytes"));
}

TEST(Safetensors, RefusesABadFrame) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, const char*> cases[] = {
      {"", "m.st: 0 bytes long"},
      {"\2\0\0\0\0\0\0"sv, "m.st: 7 bytes long"},
      {"\0\0\0\0\0\0\0\0"sv, "byte 8 does not begin with {"},
      {"\3\0\0\0\0\0\0\0{}"sv, "the header ends at byte 11, the file at byte 10: it is cut off"},
      {"\xff\xff\xff\xff\xff\xff\xff\xff{}"sv, "header length at byte 0 is 18446744073709551615"},
      {"\x01\xe1\xf5\x05\0\0\0\0{}"sv,
       "header length at byte 0 is 100000001, the limit is 100000000"},
      {"\4\0\0\0\0\0\0\0{} x"sv, "invalid at byte 11"},
      {"\3\0\0\0\0\0\0\0{}\0"sv, "invalid at byte 10: a zero byte"},
      {"\2\0\0\0\0\0\0\0[]"sv, "does not begin with {"},
      {"\3\0\0\0\0\0\0\0 {}"sv, "does not begin with {"},
      {"\6\0\0\0\0\0\0\0{\"a\":1"sv, "invalid at byte 13"},
      {"\7\0\0\0\0\0\0\0{\"\xff\":1}"sv, "ill-formed UTF-8 byte"},
  };
  for (const auto& [file, reason] : cases) {
    EXPECT_THAT(error_of(file), AllOf(StartsWith("[safetensors] m.st: "), HasSubstr(reason)));
  }
}

TEST(Safetensors, RefusesBadTensors) {
  struct Case {
    std::string_view members;
    const char* reason;
  };
  // The tensor's object begins at byte 13, its members at byte 14.
  const Case cases[] = {
      {"", "(header, byte 9): dtype is missing"},
      {R"("dtype":"F32")", "shape is missing"},
      {R"("dtype":"F32","shape":[])", "data_offsets is missing"},
      {R"("dtype":"F32","shape":[],"data_offsets":[0,4],"x":1)",
       "(header, byte 60): unknown key \"x\""},
      {R"("dtype":"F33","shape":[],"data_offsets":[0,4])",
       "(header, byte 14): unknown dtype \"F33\": heed reads F32, F64, BF16"},
      {R"("dtype":32,"shape":[],"data_offsets":[0,4])",
       "dtype must be a string, found the integer"},
      {R"("dtype":"F32","shape":4,"data_offsets":[0,4])",
       "(header, byte 28): shape must be a list"},
      {R"("dtype":"F32","shape":[1,-1],"data_offsets":[0,4])",
       "(header, byte 39): a size in shape must be an integer from 0"},
      {R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])", "found the float 1"},
      {R"("dtype":"F32","shape":["1"],"data_offsets":[0,4])", "found the string \"1\""},
      {R"("dtype":"F32","shape":[18446744073709551617],"data_offsets":[0,4])", "found the float"},
      {R"("dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4])",
       "shape has 9 dimensions: at most 8"},
      {R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4])", "overflows"},
      {R"("dtype":"F32","shape":[2305843009213693952],"data_offsets":[0,4])", "overflows"},
      {R"("dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0])", "overflows"},
      {R"("dtype":"F32","shape":[1],"data_offsets":[0])", "must be a list of two integers"},
      {R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])", "must be a list of two integers"},
      {R"("dtype":"F32","shape":[1],"data_offsets":{})", "must be a list of two integers"},
      {R"("dtype":"F32","shape":[1],"data_offsets":[-4,0])", "a data offset must be an integer"},
      {R"("dtype":"F32","shape":[1],"data_offsets":[4,0])", "[4, 0] end before they begin"},
      {R"("dtype":"F32","shape":[1],"data_offsets":[4,8])",
       "(header, byte 40): data_offsets [4, 8] reach beyond the data, which has 4 bytes"},
      {R"("dtype":"F32","shape":[2],"data_offsets":[0,4])",
       "data_offsets [0, 4] hold 4 bytes, shape [2] of F32 needs 8"},
      {R"("dtype":"F32","shape":[0],"data_offsets":[0,4])", "needs 0"},
      {R"("dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4])", "appears twice"},
      {R"("dtype":"F32","shape":[[[1]]],"data_offsets":[0,4])", "found a list"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(tensor_error(c.members, "abcd"), HasSubstr(c.reason)) << c.members;
    EXPECT_THAT(tensor_error(c.members, "abcd"), StartsWith("[safetensors] m.st: ")) << c.members;
  }
  EXPECT_THAT(tensor_error(""), HasSubstr("tensor \"t\"")) << "by name";
}

TEST(Safetensors, RefusesBadMembersOfTheHeader) {
  EXPECT_THAT(header_error(R"({"t":[]})"),
              HasSubstr("(header, byte 9): found a list, expected an object with dtype"));
  EXPECT_THAT(header_error(R"({"__metadata__":[]})"), HasSubstr("must be an object of strings"));
  EXPECT_THAT(header_error(R"({"__metadata__":{"k":1}})"),
              HasSubstr("\"k\" must be a string, found the integer 1"));
  EXPECT_THAT(header_error(R"({"__metadata__":{"k":"1","k":"1"}})"), HasSubstr("appears twice"));
  EXPECT_THAT(header_error(R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                           R"("t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
              HasSubstr("invalid at byte 61: key \"t\" appears twice"));
  EXPECT_THAT(header_error(std::string(100'000, '{')), HasSubstr("invalid at byte 9"));
  EXPECT_THAT(header_error("{\"a\":" + std::string(100'000, '[')), HasSubstr("nested deeper"));
}

std::string ranges_error(const std::vector<std::pair<int, int>>& ranges, std::size_t bytes,
                         SafetensorsOptions options = {}) {
  std::string header;
  char name = 'a';
  for (const auto& [begin, end] : ranges) {
    header += fmt::format(R"({}"{}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}})",
                          header.empty() ? '{' : ',', name++, end - begin, begin, end);
  }
  std::string file = safetensors_text(header + "}", std::string(bytes, 'x'));
  std::string message = error_of(file, options);
  // Positions in messages count from the file's start; the tests count from the data's.
  const std::size_t data = file.size() - bytes;
  for (std::size_t i = 0; i <= bytes; ++i) {
    const std::string absolute = fmt::format("byte {}", data + i);
    if (const auto at = message.find(absolute); at != std::string::npos) {
      message.replace(at, absolute.size(), fmt::format("byte +{}", i));
    }
  }
  return message;
}

TEST(Safetensors, RangesMustTileTheData) {
  EXPECT_EQ(ranges_error({{0, 4}, {4, 8}}, 8), "(no error)");
  EXPECT_EQ(ranges_error({{4, 8}, {0, 4}, {4, 4}}, 8), "(no error)");
  EXPECT_THAT(
      ranges_error({{0, 4}, {3, 7}}, 8),
      AllOf(HasSubstr("begins at byte +3, inside tensor \"a\""), HasSubstr("ends at byte +4")));
  EXPECT_THAT(ranges_error({{0, 4}, {0, 4}}, 4), HasSubstr("begins at byte +0, inside tensor"));
  EXPECT_THAT(ranges_error({{0, 4}, {2, 2}}, 4), HasSubstr("begins at byte +2, inside tensor"));
  EXPECT_THAT(ranges_error({{0, 8}, {2, 4}, {8, 9}}, 9), HasSubstr("begins at byte +2, inside"));
  EXPECT_THAT(ranges_error({{0, 3}, {4, 8}}, 8),
              HasSubstr("between tensor \"a\" and tensor \"b\" belong"));
  EXPECT_THAT(ranges_error({{1, 8}}, 8), HasSubstr("between the header and tensor \"a\""));
  EXPECT_THAT(ranges_error({{4, 4}, {0, 2}}, 4), HasSubstr("belong to no tensor"));
}

TEST(Safetensors, TrailingBytesPassOnlyOnRequest) {
  EXPECT_THAT(ranges_error({{0, 4}}, 6),
              HasSubstr("2 bytes follow tensor \"a\", which ends at byte +4"));
  EXPECT_THAT(error_of(safetensors_text("{}", "x")), HasSubstr("1 bytes follow the header"));
  EXPECT_EQ(ranges_error({{0, 4}}, 6, {.allow_trailing_bytes = true}), "(no error)");
  EXPECT_THAT(ranges_error({{0, 3}, {4, 8}}, 9, {.allow_trailing_bytes = true}),
              HasSubstr("belong to no tensor"))
      << "only trailing ones";
}

TEST(Safetensors, RefusesDataThatCannotBeReadInPlace) {
  const std::string header = R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  ASSERT_NE(header.size() % 4, 0u);
  EXPECT_THAT(error_of(safetensors_text(header, "abcd", /*pad=*/false)),
              AllOf(HasSubstr("tensor \"t\" begins at byte 62, not at a multiple of 4"),
                    HasSubstr("save the file again")));
  EXPECT_THAT(header_error(R"({"u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                           R"("t":{"dtype":"BF16","shape":[1],"data_offsets":[1,3]}})",
                           "abc"),
              HasSubstr("not at a multiple of 2"));
}

TEST(Safetensors, ABoolIsZeroOrOne) {
  const std::string_view members = R"("dtype":"BOOL","shape":[3],"data_offsets":[0,3])";
  using namespace std::string_view_literals;
  EXPECT_EQ(tensor_error(members, "\0\1\1"sv), "(no error)");
  EXPECT_THAT(
      tensor_error(members, "\0\1\2"sv),
      AllOf(HasSubstr("tensor \"t\" is BOOL and holds 2 at byte 66"), HasSubstr("only 0 and 1")));
}

TEST(Safetensors, NamesInMessagesAreSafeToPrint) {
  EXPECT_THAT(header_error(R"({"\u001b[2J\n":[]})"), HasSubstr(R"(tensor "\x1b[2J\n")"));
}

TEST(Safetensors, OpenNamesTheFile) {
  const TempDir dir;
  write_file(dir / "m.safetensors", "short");
  EXPECT_THAT(error_message([&] { SafetensorsFile::open(dir / "m.safetensors"); }),
              HasSubstr((dir / "m.safetensors").string() + ": 5 bytes long"));
  EXPECT_THAT(error_message([&] { SafetensorsFile::open(dir / "none"); }),
              HasSubstr("No such file"));
}

// The golden files were written by the reference implementation.
TEST(Safetensors, ReadsWhatTheReferenceLibraryWrites) {
  int files = 0;
  for (const auto& path : std::filesystem::directory_iterator(test::golden_path(""))) {
    if (path.path().extension() != ".safetensors") continue;
    const SafetensorsFile file = SafetensorsFile::open(path.path());
    EXPECT_FALSE(file.entries().empty()) << path.path();
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace heed::io::safetensors_test
