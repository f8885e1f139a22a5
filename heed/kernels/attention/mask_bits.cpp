#include "heed/kernels/attention/mask_bits.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "heed/base/threads.h"

namespace heed::kernels {
namespace {

static_assert(std::endian::native == std::endian::little, "the first byte must be the lowest");

// Each byte that is not 0 becomes 1.
std::uint64_t ones_of(std::uint64_t word) {
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7fu, kOne = 0x0101010101010101u;
  return (((word & kLow) + kLow) | word) >> 7 & kOne;
}

MaskRow examine(const std::uint8_t* row, std::int64_t cols) {
  constexpr std::int64_t kWord = 8;
  MaskRow found{0, 0, 0};
  for (std::int64_t c = 0; c < cols; c += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, row + c, static_cast<std::size_t>(std::min(cols - c, kWord)));
    if (word == 0) continue;
    word = ones_of(word);
    if (found.count == 0) found.first = c + std::countr_zero(word) / 8;
    found.last = c + kWord - std::countl_zero(word) / 8;
    found.count += std::popcount(word);
  }
  return found;
}

}  // namespace

void pack_mask(const MaskElements& from, const MaskBits& to, MaskRow* rows) {
  parallel_for(to.heads * to.groups, kMaskRows * to.cols, [&](std::int64_t i) {
    const std::int64_t head = i / to.groups, group = i % to.groups;
    std::uint8_t* const bytes = to.bytes + i * to.cols;
    std::fill_n(bytes, to.cols, std::uint8_t{0});
    const std::int64_t first = group * kMaskRows;
    for (std::int64_t r = std::min(from.rows, first + kMaskRows); r-- > first;) {
      const std::uint8_t* const row = from.data + head * from.head_stride + r * from.row_stride;
      for (std::int64_t c = 0; c < to.cols; ++c) {
        bytes[c] = static_cast<std::uint8_t>(bytes[c] + bytes[c] + (row[c] != 0));
      }
      rows[head * from.rows + r] = examine(row, to.cols);
    }
  });
}

}  // namespace heed::kernels
