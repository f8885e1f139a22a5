// Metadata of GGUF: every type, getters, and every way a value can be wrong.
#include "heed/io/gguf_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/gguf.h"
#include "tests/io/byte_builder.h"
#include "tests/io/safetensors_support.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed::io::gguf_metadata_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::uint32_t number_of(GgufType type) { return static_cast<std::uint32_t>(type); }

// Reads `content` as `count` keys.
std::string error_of(const ByteBuilder& content, std::uint64_t count = 1) {
  const AlignedBytes bytes(content.str());
  return error_message([&] {
    ByteReader reader(bytes.span(), "gguf", "m.gguf");
    GgufMetadata(reader, count);
  });
}

// One key "k" of a type; its value follows.
ByteBuilder key_of(GgufType type) { return ByteBuilder().counted("k").u32(number_of(type)); }

TEST(GgufMetadata, ReadsEveryTypeThatThePackageGgufWrites) {
  const GgufFile file = GgufFile::open(test::golden_path("small.gguf"));
  const GgufMetadata& m = file.metadata();
  EXPECT_EQ(m.text("general.architecture"), "test");
  EXPECT_EQ(m.integer("a.u8"), 200);
  EXPECT_EQ(m.integer("a.i8"), -100);
  EXPECT_EQ(m.integer("a.u16"), 60000);
  EXPECT_EQ(m.integer("a.i16"), -30000);
  EXPECT_EQ(m.integer("a.u32"), 4000000000);
  EXPECT_EQ(m.integer("a.i32"), -2000000000);
  EXPECT_EQ(m.integer("a.i64"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(m.number("a.f32"), 0.5);
  EXPECT_EQ(m.number("a.f64"), 1e-300);
  EXPECT_EQ(m.number("a.u8"), 200.0);
  EXPECT_EQ(m.boolean("a.bool"), true);
  EXPECT_EQ(m.text("a.string"), "text with 狗");
  EXPECT_THAT(*m.texts("a.strings"), ElementsAre("<s>", "</s>", "▁the"));
  EXPECT_THAT(*m.integers("a.integers"), ElementsAre(3, 1, 4, 1, 5));
  EXPECT_THAT(*m.numbers("a.floats"), ElementsAre(0.25, -0.5));
  EXPECT_EQ(to_string(*m.find("a.u64")), "18446744073709551615");
  EXPECT_EQ(to_string(*m.find("a.bools")), "[2 x bool: true, false]");
  EXPECT_EQ(to_string(*m.find("a.strings")), "[3 x string: \"<s>\", \"</s>\", \"▁the\"]");
  EXPECT_EQ(m.find("a"), nullptr);
}

TEST(GgufMetadata, AbsentKeysAreEmptyAndOtherTypesThrow) {
  const GgufFile file = GgufFile::open(test::golden_path("small.gguf"));
  const GgufMetadata& m = file.metadata();
  EXPECT_EQ(m.integer("none"), std::nullopt);
  EXPECT_EQ(m.texts("none"), std::nullopt);
  EXPECT_THAT(
      error_message([&] { m.integer("a.string"); }),
      HasSubstr("metadata key \"a.string\" is \"text with 狗\" (string), expected an integer"));
  EXPECT_THAT(error_message([&] { m.integer("a.u64"); }), HasSubstr("below 2^63"));
  EXPECT_THAT(error_message([&] { m.text("a.u8"); }), HasSubstr("expected a string"));
  EXPECT_THAT(error_message([&] { m.boolean("a.u8"); }), HasSubstr("expected a bool"));
  EXPECT_THAT(error_message([&] { m.number("a.bool"); }), HasSubstr("expected a number"));
  EXPECT_THAT(error_message([&] { m.texts("a.u8"); }), HasSubstr("expected an array"));
  EXPECT_THAT(error_message([&] { m.texts("a.integers"); }),
              HasSubstr("expected an array of strings"));
  EXPECT_THAT(error_message([&] { m.integers("a.floats"); }),
              HasSubstr("expected an array of integers"));
}

TEST(GgufMetadata, NestedArraysAreReadToALimit) {
  const auto nested = [](int depth) {
    ByteBuilder b = key_of(GgufType::array);
    for (int i = 1; i < depth; ++i) b.u32(number_of(GgufType::array)).u64(1);
    return b.u32(number_of(GgufType::u8)).u64(2).u8(1).u8(2);
  };
  EXPECT_EQ(error_of(nested(kMaxGgufDepth)), "(no error)");
  EXPECT_THAT(error_of(nested(kMaxGgufDepth + 1)), HasSubstr("arrays are nested more than 4 deep"));
  const AlignedBytes bytes(nested(2).str());
  ByteReader reader(bytes.span(), "gguf", "m.gguf");
  EXPECT_EQ(to_string(*GgufMetadata(reader, 1).find("k")), "[1 x array: [2 x u8: 1, 2]]");
}

TEST(GgufMetadata, CountsBeyondTheFileAreRefusedAtOnce) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;
  EXPECT_THAT(error_of(ByteBuilder(), kHuge), HasSubstr("metadata keys: the limit is"));
  EXPECT_THAT(error_of(ByteBuilder().u64(kHuge)),
              HasSubstr("a metadata key has 9223372036854775808"));
  EXPECT_THAT(error_of(key_of(GgufType::string).u64(kHuge)),
              HasSubstr("a string at byte 21 needs 9223372036854775808 bytes, and 0 are left"));
  for (const GgufType type :
       {GgufType::u8, GgufType::f64, GgufType::string, GgufType::array, GgufType::boolean}) {
    EXPECT_THAT(error_of(key_of(GgufType::array).u32(number_of(type)).u64(kHuge).zeros(100)),
                HasSubstr("an array of 9223372036854775808 elements"));
  }
  // 2^61 elements of 8 bytes: the product is 0 in 64 bits.
  EXPECT_THAT(error_of(key_of(GgufType::array).u32(number_of(GgufType::u64)).u64(kHuge >> 2)),
              HasSubstr("an array of"));
}

TEST(GgufMetadata, WrongValuesAreRefused) {
  EXPECT_THAT(error_of(ByteBuilder().counted("k").u32(13)),
              HasSubstr("byte 9: the type of \"k\" is 13: value types are 0 to 12"));
  EXPECT_THAT(error_of(key_of(GgufType::boolean).u8(2)), HasSubstr("a bool is 2"));
  EXPECT_THAT(
      error_of(key_of(GgufType::array).u32(number_of(GgufType::boolean)).u64(2).u8(1).u8(9)),
      HasSubstr("byte 26: a bool is 9"));
  EXPECT_THAT(error_of(ByteBuilder().counted("").u32(0).u8(1)), HasSubstr("a metadata key has 0"));
  EXPECT_THAT(error_of(key_of(GgufType::u64).u32(1)), HasSubstr("a u64 at byte 13 needs 8 bytes"));
  EXPECT_THAT(error_of(ByteBuilder().counted("k").u32(0).u8(1).counted("k").u32(0).u8(1), 2),
              HasSubstr("metadata key \"k\" occurs twice"));
}

}  // namespace
}  // namespace heed::io::gguf_metadata_test
