// The tensors of a weight in blocks: a row that is stored comes back, and the form follows from the
// tensors that exist.
#include "heed/nn/block_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/kernels/packed/packed_trial.h"

namespace heed::block_file_test {
namespace {

template <typename T>
void fill(std::vector<T>& list, unsigned limit, std::mt19937& random) {
  for (T& number : list) number = static_cast<T>(random() % limit);
}

TEST(BlockFile, RowsComeBack) {
  std::mt19937 random(1);
  for (const kernels::test::GgufForm& form : kernels::test::kGgufForms) {
    SCOPED_TRACE(io::info(form.type).name);
    kernels::BlockRow row(form.blocks, 512), back(form.blocks, 512);
    fill(row.q, 1u << form.blocks.bits, random);
    fill(row.scales, 0x7c00, random);
    fill(row.minima, 0x7c00, random);
    fill(row.byte_scales, 64, random);
    fill(row.byte_minima, 64, random);
    std::int64_t bytes = 0;
    for (const BlockPart& part : block_parts(form.blocks, 512)) {
      std::vector<std::byte> stored(static_cast<std::size_t>(part.row_bytes()));
      part.store(row, stored.data());
      part.restore(stored.data(), back);
      bytes += part.row_bytes();
    }
    EXPECT_EQ(back.q, row.q);
    EXPECT_EQ(back.scales, row.scales);
    EXPECT_EQ(back.minima, row.minima);
    EXPECT_EQ(back.byte_scales, row.byte_scales);
    EXPECT_EQ(back.byte_minima, row.byte_minima);
    // A file has 12 bits for the scale and the minimum of a nested block rather than 16.
    const io::TensorTypeInfo& info = io::info(form.type);
    const bool is_nested = form.blocks.scales == kernels::BlockScales::nested;
    EXPECT_EQ(bytes, 512 / info.block * info.block_bytes + (is_nested ? 2 * 4 : 0));
  }
}

TEST(BlockFile, TheTensorsSayTheForm) {
  for (const kernels::test::GgufForm& form : kernels::test::kGgufForms) {
    std::set<std::string_view> suffixes;
    const std::vector<BlockPart> parts = block_parts(form.blocks, 512);
    for (const BlockPart& part : parts) suffixes.insert(part.suffix);
    EXPECT_EQ(parts[0].suffix, "");
    EXPECT_EQ(stored_blocks(parts[0].type,
                            [&](std::string_view suffix) { return suffixes.contains(suffix); }),
              form.blocks);
  }
  EXPECT_FALSE(stored_blocks(io::TensorType::F32, [](std::string_view) { return true; }));
}

}  // namespace
}  // namespace heed::block_file_test
