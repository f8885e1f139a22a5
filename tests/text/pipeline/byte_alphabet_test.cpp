// The alphabet of byte-level BPE.
#include "heed/text/pipeline/byte_alphabet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/text/unicode.h"

namespace heed::pipeline::byte_alphabet_test {
namespace {

TEST(ByteAlphabet, IsGpt2s) {
  EXPECT_EQ(byte_characters()[' '], "Ġ");
  EXPECT_EQ(byte_characters()['\n'], "Ċ");
  EXPECT_EQ(byte_characters()['A'], "A");
  EXPECT_EQ(byte_characters()[0xAD], "Ń");
  EXPECT_EQ(byte_characters()[0xFF], "ÿ");
}

TEST(ByteAlphabet, GoesBothWays) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string& character = byte_characters()[static_cast<std::size_t>(byte)];
    EXPECT_EQ(byte_of(unicode::front(character).value), byte);
  }
  EXPECT_EQ(bytes_of("Ġdog"), " dog");
  EXPECT_FALSE(bytes_of("a b").has_value());
  EXPECT_FALSE(bytes_of("狗").has_value());
}

}  // namespace
}  // namespace heed::pipeline::byte_alphabet_test
