// The table of element types and the size arithmetic.
#include "heed/io/safetensors_format.h"

#include <gtest/gtest.h>

#include <array>

namespace heed::io::detail {
namespace {

TEST(SafetensorsFormat, EveryDTypeHasItsName) {
#define HEED_X(name, type, file_name)                          \
  ASSERT_NE(find_format_dtype(file_name), nullptr);            \
  EXPECT_EQ(find_format_dtype(file_name)->dtype, DType::name); \
  EXPECT_EQ(find_format_dtype(file_name)->bits, 8 * sizeof(type));
  HEED_DTYPES(HEED_X)
#undef HEED_X
  EXPECT_EQ(find_format_dtype("f32"), nullptr);
  EXPECT_EQ(find_format_dtype("F16")->dtype, std::nullopt);
  EXPECT_EQ(supported_dtypes(), "F32, F64, BF16, I32, I64, U8, BOOL");
}

TEST(SafetensorsFormat, ByteCountKnowsItsLimits) {
  EXPECT_EQ(byte_count({}, 32), 4u);
  EXPECT_EQ(byte_count({2, 3}, 16), 12u);
  EXPECT_EQ(byte_count({2, 0}, 16), 0u);
  EXPECT_EQ(byte_count({4}, 6), 3u);
  EXPECT_EQ(byte_count({3}, 6), std::nullopt);
  EXPECT_EQ(byte_count({-1}, 8), std::nullopt);
  EXPECT_EQ(byte_count({0, -1}, 8), std::nullopt);
  EXPECT_EQ(byte_count({1ll << 59}, 8), 1ull << 59);
  EXPECT_EQ(byte_count({1ll << 60}, 8), std::nullopt);
  EXPECT_EQ(byte_count({1ll << 32, 0, 1ll << 32}, 8), std::nullopt);
}

TEST(SafetensorsFormat, FindsBytesThatAreNoBool) {
  const std::array<std::byte, 4> bytes = {std::byte{0}, std::byte{1}, std::byte{255}, std::byte{2}};
  EXPECT_EQ(find_bad_bool(bytes), 2u);
  EXPECT_EQ(find_bad_bool(std::span(bytes).first(2)), std::nullopt);
}

}  // namespace
}  // namespace heed::io::detail
