// Writing safetensors: the exact bytes, round trips of every type, refusals, and atomicity.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "heed/io/safetensors.h"
#include "tests/io/safetensors_support.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(SafetensorsWrite, HeaderAsGivenDataByElementSize) {
  const SafetensorsItem items[] = {
      {"small", TensorType::U8, {3}, bytes_of("abc")},
      {"wide", TensorType::F32, {}, bytes_of("4444")},
  };
  std::string header = R"({"__metadata__":{"a":"1","b":"2"},)"
                       R"("small":{"dtype":"U8","shape":[3],"data_offsets":[4,7]},)"
                       R"("wide":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})";
  EXPECT_EQ(text_of(safetensors_bytes(items, {{"b", "2"}, {"a", "1"}})),
            safetensors_text(header, "4444abc"));
}

TEST(SafetensorsWrite, NothingIsAFileToo) {
  EXPECT_EQ(text_of(safetensors_bytes({})), safetensors_text("{}", ""));
}

TEST(SafetensorsWrite, EveryTypeReadsBack) {
  const TempDir dir;
  const std::string zeros_and_ones =
      std::string("\0\1\0\1\1\1\0\1\0\0\1\1\0\1\0\1", 16) + std::string("\1\1\0\0\1\0\1\1", 8);
  std::vector<SafetensorsItem> items;
  // From small to large, odd counts, so that only the layout keeps them aligned.
#define HEED_X(name, type, file_name)                       \
  items.insert(items.begin(), {"层/" #name "\"\n",          \
                               tensor_type_of(DType::name), \
                               {3, 1},                      \
                               bytes_of(zeros_and_ones).first(3 * sizeof(type))});
  HEED_DTYPES(HEED_X)
#undef HEED_X
  items.push_back({"none", TensorType::F64, {0, 5}, {}});
  const Metadata metadata = {{"format", "pt"}, {"epoch", "3"}, {"层", "\x7f\n"}};
  write_safetensors(dir / "m", items, metadata);

  const SafetensorsFile file = SafetensorsFile::open(dir / "m");
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_EQ(file.entries().size(), items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(file.entries()[i].name, items[i].name);
    const SafetensorsEntry& entry = file.find(items[i].name);
    EXPECT_EQ(entry.dtype, info(items[i].type).dtype);
    EXPECT_EQ(entry.shape, items[i].shape);
    EXPECT_EQ(text_of(entry.bytes), text_of(items[i].bytes));
  }
  EXPECT_EQ(text_of(MappedFile::open(dir / "m")->bytes()),
            text_of(safetensors_bytes(items, metadata)))
      << "equal input gives equal bytes";
}

TEST(SafetensorsWrite, TypesThatTensorsDoNotHave) {
  const SafetensorsItem items[] = {{"x", TensorType::I8, {2, 1}, bytes_of("\x7f\x81")},
                                   {"half", TensorType::F16, {1}, bytes_of("ab")}};
  const std::vector<std::byte> bytes = safetensors_bytes(items);
  const SafetensorsFile file = SafetensorsFile::parse(bytes);
  EXPECT_EQ(file.entries()[0].dtype_name, "I8");
  EXPECT_EQ(file.entries()[0].shape, (Shape{2, 1}));
  EXPECT_EQ(text_of(file.entries()[0].bytes), "\x7f\x81");
  EXPECT_EQ(file.entries()[1].dtype_name, "F16");
}

TEST(SafetensorsWrite, RefusesAndKeepsTheOldFile) {
  const TempDir dir;
  const auto error = [&](std::vector<SafetensorsItem> items, const Metadata& metadata = {}) {
    write_file(dir / "m", "old");
    std::string message = error_message([&] { write_safetensors(dir / "m", items, metadata); });
    EXPECT_EQ(read_file(dir / "m", 100), "old");
    EXPECT_THAT(dir.names(), ElementsAre("m"));
    return message;
  };
  const auto u8 = [](std::string name, Shape shape, std::string_view text) {
    return SafetensorsItem{std::move(name), TensorType::U8, shape, bytes_of(text)};
  };
  EXPECT_THAT(error({u8("", {1}, "x")}), HasSubstr("a tensor of shape [1] has no name"));
  EXPECT_THAT(error({u8("__metadata__", {1}, "x")}), HasSubstr("cannot be named __metadata__"));
  EXPECT_THAT(error({u8("a", {1}, "x"), u8("b", {1}, "x"), u8("a", {1}, "x")}),
              HasSubstr("two tensors are named \"a\""));
  EXPECT_THAT(error({u8("a", {2}, "x")}), HasSubstr("tensor \"a\": 1 bytes given for U8 [2]"));
  EXPECT_THAT(error({u8("a", {-1}, "x")}), HasSubstr("bytes given for U8 [-1]"));
  EXPECT_THAT(error({u8("a\xff", {1}, "x")}), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(error({u8("a", {1}, "x")}, {{"k", "\xff"}}), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(error({{"a", TensorType::BOOL, {1}, bytes_of("\2")}}), HasSubstr("neither 0 nor 1"));
  EXPECT_THAT(error({{"a", TensorType::Q8_0, {32}, bytes_of("x")}}),
              HasSubstr("tensor \"a\": the format has no type Q8_0"));
  EXPECT_THAT(error_message([&] { write_safetensors(dir / "none/m", {}, {}); }),
              HasSubstr("No such file"));
}

}  // namespace
}  // namespace heed::io
