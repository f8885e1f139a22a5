#include "heed/kernels/attention/mask_bits.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/base/random.h"

namespace heed::kernels::mask_bits_test {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Packs random elements of two heads and compares every bit and every row.
void compare(std::int64_t rows, std::int64_t cols, float visible) {
  constexpr std::int64_t kHeads = 2;
  const std::int64_t groups = (rows + 15) / 16 * 2;
  const RandomStream random{7, static_cast<std::uint64_t>(rows * 1000 + cols)};
  std::vector<std::uint8_t> elements(index(kHeads * rows * cols));
  constexpr std::uint8_t kVisible[] = {1, 2, 0x80, 0xff};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = random.uniform(i) < visible ? kVisible[i % 4] : 0;
  }
  std::vector<std::uint8_t> bytes(index(kHeads * groups * cols), 0xaa);
  std::vector<MaskRow> ranges(index(kHeads * rows));
  pack_mask({.data = elements.data(), .rows = rows, .head_stride = rows * cols, .row_stride = cols},
            {bytes.data(), kHeads, groups, cols}, ranges.data());
  for (std::int64_t head = 0; head < kHeads; ++head) {
    for (std::int64_t r = 0; r < groups * kMaskRows; ++r) {
      MaskRow expected{0, 0, 0};
      for (std::int64_t c = 0; c < cols; ++c) {
        const int bit =
            bytes[index((head * groups + r / kMaskRows) * cols + c)] >> r % kMaskRows & 1;
        const int element = r < rows && elements[index((head * rows + r) * cols + c)] != 0;
        ASSERT_EQ(bit, element) << rows << " x " << cols << ", row " << r << ", key " << c;
        if (element == 0) continue;
        if (expected.count++ == 0) expected.first = c;
        expected.last = c + 1;
      }
      if (r >= rows) continue;
      const MaskRow& found = ranges[index(head * rows + r)];
      EXPECT_EQ(found.first, expected.first);
      EXPECT_EQ(found.last, expected.last);
      EXPECT_EQ(found.count, expected.count);
    }
  }
}

TEST(MaskBits, EveryBitAndRow) {
  for (const std::int64_t rows : {1, 7, 8, 17, 63, 65}) {
    for (const std::int64_t cols : {1, 7, 8, 17, 63, 65}) {
      for (const float visible : {0.0f, 0.03f, 0.8f, 1.0f}) compare(rows, cols, visible);
    }
  }
}

}  // namespace
}  // namespace heed::kernels::mask_bits_test
