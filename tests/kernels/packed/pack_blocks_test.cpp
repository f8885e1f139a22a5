// Matrices of blocks: GGUF files become them without loss.
#include "heed/kernels/packed/pack_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/kernels/dequantize.h"
#include "tests/kernels/packed/packed_trial.h"

namespace heed::kernels::pack_blocks_test {
namespace {

using test::GgufForm;
using test::kGgufForms;
using test::OwnedMatrix;
using test::random_gguf;

TEST(PackBlocks, NumbersOfGgufFilesKeepTheirBits) {
  for (const GgufForm& form : kGgufForms) {
    for (const std::int64_t out : {1, 16, 17, 77}) {
      for (const std::int64_t in : {256, 768}) {
        SCOPED_TRACE(fmt::format("{} {}x{}", io::info(form.type).name, out, in));
        const std::vector<std::byte> rows = random_gguf(form.type, out, in, 1);
        std::vector<float> expected(static_cast<std::size_t>(out * in));
        dequantize(form.type, rows, expected);
        const OwnedMatrix packed(form, out, in, rows);
        std::vector<float> row(static_cast<std::size_t>(in));
        for (std::int64_t r = 0; r < out; ++r) {
          unpack_row(packed.matrix(), r, row.data());
          ASSERT_TRUE(std::equal(row.begin(), row.end(), expected.begin() + r * in)) << r;
        }
      }
    }
  }
}

TEST(PackBlocks, PlacesAreThoseOfTheHeader) {
  BlockRow one({5, BlockScales::shifted}, 64);
  one.q[32 + 4 * 3 + 2] = 0x1a;  // block 1, step 3, third of four columns
  one.scales[1] = 0x3c00;
  one.minima[1] = 0x4000;
  const OwnedMatrix packed(PackedForm::int4, 18, 64, {5, BlockScales::shifted});
  const BlockRow none({5, BlockScales::shifted}, 64);
  pack_blocks([&](std::int64_t row, BlockRow& to) { to = row == 17 ? one : none; },
              packed.target());
  const std::size_t panel = 2 * 320, block = panel + 320;
  for (std::size_t i = 0; i < packed.data().size(); ++i) {
    int expected = 0;
    if (i == block + 1 * 64 + 1 * 4 + 2) expected = 0xa0;  // the high half of pair 1, row 1
    if (i == block + 256 + 1 * 4 + 2) expected = 1 << 3;   // the fifth bit of step 3
    ASSERT_EQ(static_cast<int>(packed.data()[i]), expected) << i;
  }
  for (std::size_t i = 0; i < packed.block_scales().size(); ++i) {
    int expected = 0;
    if (i == 2 * 64 + 64 + 1 * 2 + 1) expected = 0x3c;       // panel 1, block 1: scale of row 1
    if (i == 2 * 64 + 64 + 32 + 1 * 2 + 1) expected = 0x40;  // and its minimum
    ASSERT_EQ(static_cast<int>(packed.block_scales()[i]), expected) << i;
  }
}

TEST(PackBlocks, RowsComeBack) {
  for (const GgufForm& form : kGgufForms) {
    const std::vector<std::byte> rows = random_gguf(form.type, 19, 512, 2);
    const OwnedMatrix first(form, 19, 512, rows);
    const OwnedMatrix again(PackedForm::int4, 19, 512, form.blocks);
    pack_blocks([&](std::int64_t row, BlockRow& to) { unpack_blocks(first.matrix(), row, to); },
                again.target());
    EXPECT_EQ(again.data(), first.data());
    EXPECT_EQ(again.block_scales(), first.block_scales());
  }
}

}  // namespace
}  // namespace heed::kernels::pack_blocks_test
