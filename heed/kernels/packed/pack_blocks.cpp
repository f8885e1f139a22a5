#include "heed/kernels/packed/pack_blocks.h"

#include <algorithm>
#include <cstring>

#include "heed/base/error.h"
#include "heed/kernels/packed/half.h"

namespace heed::kernels {
namespace {

constexpr std::int64_t kStepBytes = kPanelRows * 4;  // of one step of all rows
constexpr std::int64_t kSteps = kBlockColumns / 4;

// The place of four columns of a row in a block: of step s, or of the pair of steps s.
std::int64_t step_place(std::int64_t s, std::int64_t row) { return s * kStepBytes + row * 4; }

std::uint32_t four_of(const std::uint8_t* q) {
  std::uint32_t four;
  std::memcpy(&four, q, sizeof four);
  return four;
}

// Writes one row of a block, from q [32].
void put_block(BlockForm form, std::int64_t row, const std::uint8_t* q, std::byte* block) {
  const auto put = [&](std::int64_t place, std::uint32_t four) {
    std::memcpy(block + place, &four, sizeof four);
  };
  if (form.bits == 8) {
    for (std::int64_t s = 0; s < kSteps; ++s) {
      put(step_place(s, row), four_of(q + 4 * s) ^ 0x80808080u);
    }
    return;
  }
  std::uint32_t fifth = 0;
  for (std::int64_t s = 0; s < kSteps; s += 2) {
    const std::uint32_t even = four_of(q + 4 * s), odd = four_of(q + 4 * s + 4);
    put(step_place(s / 2, row), (even & 0x0f0f0f0fu) | (odd & 0x0f0f0f0fu) << 4);
    fifth |= (even >> 4 & 0x01010101u) << s | (odd >> 4 & 0x01010101u) << (s + 1);
  }
  if (form.bits == 5) put(step_place(kSteps / 2, row), fifth);
}

void get_block(BlockForm form, std::int64_t row, const std::byte* block, std::uint8_t* q) {
  const auto get = [&](std::int64_t place) {
    std::uint32_t four;
    std::memcpy(&four, block + place, sizeof four);
    return four;
  };
  const std::uint32_t fifth = form.bits == 5 ? get(step_place(kSteps / 2, row)) : 0;
  for (std::int64_t s = 0; s < kSteps; ++s) {
    std::uint32_t four;
    if (form.bits == 8) {
      four = get(step_place(s, row)) ^ 0x80808080u;
    } else {
      four = get(step_place(s / 2, row)) >> (s % 2 * 4) & 0x0f0f0f0fu;
      four |= (fifth >> s & 0x01010101u) << 4;
    }
    std::memcpy(q + 4 * s, &four, sizeof four);
  }
}

constexpr std::size_t kHalves = kPanelRows * 2, kBytes = kPanelRows;  // F16 or bytes of all rows
constexpr std::size_t kUnits = 2 * kHalves;                           // nested, of 8 blocks
constexpr std::size_t kGroup = kUnits + kNestedBlocks * 2 * kBytes;   // with their blocks

// Calls f(number in the row, place in the scales of a panel) for each list of a BlockRow.
template <typename Row, typename F>
void each_scale(BlockForm form, std::int64_t row, Row& of, const F& f) {
  const auto place = [&](std::size_t start, std::size_t i, std::size_t lists, std::size_t size) {
    return start + (i * lists * kPanelRows + static_cast<std::size_t>(row)) * size;
  };
  for (std::size_t i = 0; i < of.scales.size(); ++i) {
    if (form.scales == BlockScales::nested) {
      const std::size_t group = i * kGroup;
      f(of.scales[i], place(group, 0, 1, 2));
      f(of.minima[i], place(group + kHalves, 0, 1, 2));
      for (std::size_t j = 0; j < kNestedBlocks; ++j) {
        f(of.byte_scales[i * kNestedBlocks + j], place(group + kUnits, j, 2, 1));
        f(of.byte_minima[i * kNestedBlocks + j], place(group + kUnits + kBytes, j, 2, 1));
      }
    } else if (form.scales == BlockScales::shifted) {
      f(of.scales[i], place(0, i, 2, 2));
      f(of.minima[i], place(kHalves, i, 2, 2));
    } else {
      f(of.scales[i], place(0, i, 1, 2));
    }
  }
}

void put_row(const PackTarget& to, std::int64_t row, const BlockRow& from) {
  const std::int64_t panel = row / kPanelRows, in_panel = row % kPanelRows;
  std::byte* block = to.data + panel * panel_bytes(to.form, to.in, to.blocks);
  for (std::int64_t b = 0; b < block_count(to.in); ++b, block += block_bytes(to.blocks)) {
    put_block(to.blocks, in_panel, from.q.data() + b * kBlockColumns, block);
  }
  std::byte* const scales = to.block_scales + panel * block_scale_bytes(to.blocks, to.in);
  each_scale(to.blocks, in_panel, from, [&](auto number, std::size_t place) {
    std::memcpy(scales + place, &number, sizeof number);
  });
}

}  // namespace

void pack_blocks(FunctionRef<void(std::int64_t row, BlockRow& to)> read, const PackTarget& to) {
  HEED_ASSERT(to.form == PackedForm::int4);
  HEED_ASSERT(to.blocks.scales != BlockScales::nested || block_count(to.in) % kNestedBlocks == 0);
  const std::int64_t panels = padded_out(to.out) / kPanelRows;
  parallel_for(panels, kPanelRows * to.in * 4, [&](std::int64_t panel) {
    BlockRow one(to.blocks, to.in);
    const std::int64_t first = panel * kPanelRows;
    for (std::int64_t row = first; row < first + kPanelRows; ++row) {
      if (row < to.out) {
        read(row, one);
      } else if (row == to.out) {
        one = BlockRow(to.blocks, to.in);  // zeros
      }
      put_row(to, row, one);
    }
  });
}

void unpack_blocks(const PackedMatrix& matrix, std::int64_t row, BlockRow& to) {
  const std::int64_t panel = row / kPanelRows, in_panel = row % kPanelRows;
  const BlockForm form = matrix.blocks;
  const std::byte* block = matrix.data + panel * panel_bytes(matrix.form, matrix.in, form);
  for (std::int64_t b = 0; b < block_count(matrix.in); ++b, block += block_bytes(form)) {
    get_block(form, in_panel, block, to.q.data() + b * kBlockColumns);
  }
  const std::byte* const scales = matrix.block_scales + panel * block_scale_bytes(form, matrix.in);
  each_scale(form, in_panel, to, [&](auto& number, std::size_t place) {
    std::memcpy(&number, scales + place, sizeof number);
  });
}

BlockNumbers numbers_of(const PackedMatrix& matrix, std::int64_t row) {
  BlockRow blocks(matrix.blocks, matrix.in);
  unpack_blocks(matrix, row, blocks);
  BlockNumbers numbers{.q = std::move(blocks.q), .scales = {}, .minima = {}};
  const auto zero = static_cast<float>(1 << (matrix.blocks.bits - 1));
  for (std::size_t b = 0; b < static_cast<std::size_t>(block_count(matrix.in)); ++b) {
    if (matrix.blocks.scales == BlockScales::nested) {
      const std::size_t group = b / kNestedBlocks;
      numbers.scales.push_back(half_to_float(blocks.scales[group]) *
                               static_cast<float>(blocks.byte_scales[b]));
      numbers.minima.push_back(
          -(half_to_float(blocks.minima[group]) * static_cast<float>(blocks.byte_minima[b])));
    } else {
      const float scale = half_to_float(blocks.scales[b]);
      const bool is_shifted = matrix.blocks.scales == BlockScales::shifted;
      numbers.scales.push_back(scale);
      numbers.minima.push_back(is_shifted ? half_to_float(blocks.minima[b]) : -(zero * scale));
    }
  }
  return numbers;
}

namespace {

// The scale and the minimum of block b of a row, from the scales of its panel.
struct ScaleAndMinimum {
  float scale, minimum = 0.0f;
};
ScaleAndMinimum scale_of(BlockForm form, const std::byte* scales, std::size_t row, std::size_t b) {
  const auto half = [&](std::size_t start) {
    std::uint16_t bits;
    std::memcpy(&bits, scales + start + row * sizeof bits, sizeof bits);
    return half_to_float(bits);
  };
  if (form.scales == BlockScales::centred) return {half(b * kHalves)};
  if (form.scales == BlockScales::shifted) {
    return {half(2 * b * kHalves), half((2 * b + 1) * kHalves)};
  }
  const std::size_t group = b / kNestedBlocks * kGroup;
  const std::size_t byte = group + kUnits + b % kNestedBlocks * 2 * kBytes + row;
  const auto number = [](std::byte x) { return static_cast<float>(std::to_integer<int>(x)); };
  return {half(group) * number(scales[byte]),
          -(half(group + kHalves) * number(scales[byte + kBytes]))};
}

}  // namespace

// Called in each step of a decoder, so without a BlockRow, which has lists.
void unpack_block_row(const PackedMatrix& matrix, std::int64_t row, float* to) {
  const BlockForm form = matrix.blocks;
  const std::int64_t panel = row / kPanelRows, in_panel = row % kPanelRows;
  const std::byte* block = matrix.data + panel * panel_bytes(matrix.form, matrix.in, form);
  const std::byte* const scales = matrix.block_scales + panel * block_scale_bytes(form, matrix.in);
  const bool is_centred = form.scales == BlockScales::centred;
  const int zero = is_centred ? 1 << (form.bits - 1) : 0;
  for (std::int64_t b = 0; b < block_count(matrix.in); ++b, block += block_bytes(form)) {
    std::uint8_t q[kBlockColumns];
    get_block(form, in_panel, block, q);
    const auto [scale, minimum] =
        scale_of(form, scales, static_cast<std::size_t>(in_panel), static_cast<std::size_t>(b));
    const std::int64_t end = std::min(matrix.in, (b + 1) * kBlockColumns);
    for (std::int64_t i = b * kBlockColumns, j = 0; i < end; ++i, ++j) {
      const float product = scale * static_cast<float>(int{q[j]} - zero);
      to[i] = is_centred ? product : product + minimum;
    }
  }
}

}  // namespace heed::kernels
