// Matrices of blocks: 32 columns of a row are unsigned integers q of 4, 5 or 8 bits with a scale of
// their own and, in some forms, a minimum. These are the blocks of GGUF files, in the order in
// which products read them (matrix.h).
//
// A panel holds its blocks one after another, 16 rows each. In a block, four columns of a row are
// adjacent, so that the bytes of columns 4s to 4s + 3 of all rows are step s of a product:
//
//   4 bits  [4 pairs of steps, 16, 4] bytes: q of the even step in the low half, of the odd one in
//           the high half
//   5 bits  the same without the fifth bits, then [16, 4] bytes: bit s is the fifth bit of step s
//   8 bits  [8 steps, 16, 4] bytes: q - 128 with sign
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

/// The rows of a panel; the last panel is filled up with rows of zeros.
inline constexpr std::int64_t kPanelRows = 16;
/// Columns of a block; the last block is filled up with any numbers, which are multiplied by 0.
inline constexpr std::int64_t kBlockColumns = 32;
/// Blocks of nested scales that share two numbers.
inline constexpr std::int64_t kNestedBlocks = 8;

/// What the integers of a block are multiplied by. For a panel and each of its blocks:
enum class BlockScales : std::uint8_t {
  centred,  ///< [16] scales in F16: number = scale (q - 2^(bits - 1)). Q4_0, Q5_0, Q8_0.
  shifted,  ///< [16] scales and [16] minima in F16: scale q + minimum. Q4_1, Q5_1.
  /// For 8 blocks [16] units of scales and [16] of minima in F16, then for each block [16] scales
  /// and [16] minima in bytes: unit scale q - unit minimum. Q4_K, Q5_K.
  nested,
};

/// A form of blocks.
struct BlockForm {
  int bits = 4;  // 4, 5 or 8; those of 8 bits are centred
  BlockScales scales = BlockScales::shifted;

  bool operator==(const BlockForm&) const = default;
};

inline std::int64_t block_count(std::int64_t in) {
  return (in + kBlockColumns - 1) / kBlockColumns;
}
/// Bytes of a block of a panel.
inline std::int64_t block_bytes(BlockForm form) {
  return kPanelRows * kBlockColumns * form.bits / 8;
}
/// Bytes of the scales of a panel.
inline std::int64_t block_scale_bytes(BlockForm form, std::int64_t in) {
  const std::int64_t blocks = block_count(in);
  switch (form.scales) {
    case BlockScales::centred:
      return blocks * kPanelRows * 2;
    case BlockScales::shifted:
      return blocks * kPanelRows * 4;
    case BlockScales::nested:
      break;
  }
  return blocks / kNestedBlocks * kPanelRows * (4 + 2 * kNestedBlocks);
}

}  // namespace heed::kernels
