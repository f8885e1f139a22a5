// The list of element types: names, sizes, and byte counts that do not overflow.
#include "heed/io/tensor_type.h"

#include <gtest/gtest.h>

#include <limits>

namespace heed::io {
namespace {

TEST(TensorType, NamesLeadBackToTheirTypes) {
#define HEED_X(type, block_, bytes_)                              \
  EXPECT_EQ(find_tensor_type(#type), TensorType::type);           \
  EXPECT_EQ(info(TensorType::type).name, #type);                  \
  EXPECT_EQ(info(TensorType::type).block, std::uint32_t{block_}); \
  EXPECT_EQ(info(TensorType::type).block_bytes, std::uint32_t{bytes_});
  HEED_TENSOR_TYPES(HEED_X)
#undef HEED_X
  EXPECT_EQ(find_tensor_type("f32"), std::nullopt);
  EXPECT_EQ(find_tensor_type(""), std::nullopt);
}

TEST(TensorType, EveryDTypeHasOneOfItsSize) {
#define HEED_X(dtype_, c_type, file)                                          \
  EXPECT_EQ(info(tensor_type_of(DType::dtype_)).name, file);                  \
  EXPECT_EQ(info(tensor_type_of(DType::dtype_)).block_bytes, sizeof(c_type)); \
  EXPECT_EQ(info(tensor_type_of(DType::dtype_)).dtype, DType::dtype_);
  HEED_DTYPES(HEED_X)
#undef HEED_X
  EXPECT_EQ(info(TensorType::F16).dtype, std::nullopt);
  EXPECT_EQ(info(TensorType::Q8_0).dtype, std::nullopt);
}

TEST(TensorType, CountsBytesOfWholeBlocks) {
  EXPECT_EQ(byte_count({2, 3}, TensorType::F32), 24u);
  EXPECT_EQ(byte_count({}, TensorType::F16), 2u);
  EXPECT_EQ(byte_count({2, 64}, TensorType::Q4_0), 2u * 2 * 18);
  EXPECT_EQ(byte_count({3, 256}, TensorType::Q6_K), 630u);
  EXPECT_EQ(byte_count({2, 33}, TensorType::Q4_0), std::nullopt) << "a row is whole blocks";
  EXPECT_EQ(byte_count({32, 2}, TensorType::Q4_0), std::nullopt);
  EXPECT_EQ(byte_count({}, TensorType::Q4_0), std::nullopt);
  EXPECT_EQ(byte_count({0, 32}, TensorType::Q4_0), 0u);
  EXPECT_EQ(byte_count({5, 0}, TensorType::F32), 0u);
}

TEST(TensorType, AnOverflowIsNoCount) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(byte_count({kMax}, TensorType::U8), static_cast<std::uint64_t>(kMax));
  EXPECT_EQ(byte_count({kMax}, TensorType::F16), std::nullopt);
  EXPECT_EQ(byte_count({kMax, 2}, TensorType::U8), std::nullopt);
  EXPECT_EQ(byte_count({kMax, 0, 2}, TensorType::U8), std::nullopt) << "strides would overflow";
  EXPECT_EQ(byte_count({-1}, TensorType::U8), std::nullopt);
  EXPECT_EQ(byte_count({kMax - 31, 32}, TensorType::Q8_0), std::nullopt);
}

}  // namespace
}  // namespace heed::io
