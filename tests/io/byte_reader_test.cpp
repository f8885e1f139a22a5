// Numbers and texts in order, and never a byte after the end.
#include "heed/io/byte_reader.h"

#include <gtest/gtest.h>

#include "tests/io/byte_builder.h"
#include "tests/io/safetensors_support.h"
#include "tests/support/error_message.h"

namespace heed::io {
namespace {

TEST(ByteReader, ReadsNumbersAndTexts) {
  const AlignedBytes bytes(ByteBuilder().u8(7).u32(0xdeadbeef).text("abc").number(1.5f).str());
  ByteReader reader(bytes.span(), "x", "f", 100);
  EXPECT_EQ(reader.number<std::uint8_t>("a"), 7);
  EXPECT_EQ(reader.number<std::uint32_t>("b"), 0xdeadbeefu) << "at any address";
  EXPECT_EQ(reader.file_byte(), 105u);
  EXPECT_EQ(reader.text(3, "c"), "abc");
  EXPECT_EQ(reader.number<float>("d"), 1.5f);
  EXPECT_EQ(reader.left(), 0u);
  EXPECT_EQ(error_message([&] { reader.number<std::uint16_t>("a size"); }),
            "[x] f: a size at byte 112 needs 2 bytes, and 0 are left: the file is cut off or "
            "damaged");
}

TEST(ByteReader, ALengthThatOverflowsIsRefused) {
  const AlignedBytes bytes("abcdefgh");
  ByteReader reader(bytes.span(), "x", "f");
  reader.take(4, "a");
  EXPECT_NE(error_message([&] { reader.take(~0ull, "b"); }), "(no error)");
  EXPECT_EQ(reader.at(), 4u);
}

TEST(ByteReader, RefusesWithFormatSourceAndByte) {
  ByteReader reader({}, "gguf", "m.gguf", 12);
  EXPECT_EQ(error_message([&] { reader.refuse("bad {}", 3); }), "[gguf] m.gguf: byte 12: bad 3");
}

}  // namespace
}  // namespace heed::io
