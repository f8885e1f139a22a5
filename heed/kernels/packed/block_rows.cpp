#include "heed/kernels/packed/block_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "heed/base/error.h"
#include "heed/kernels/packed/half.h"
#include "heed/kernels/reference/dequantize.h"

namespace heed::kernels {
namespace {

using reference::load;

constexpr auto kColumns = static_cast<std::size_t>(kBlockColumns);

// ---- GGUF ---------------------------------------------------------------------------------------

struct GgufBlocks {
  io::TensorType type;
  BlockForm form;
};
constexpr GgufBlocks kGgufBlocks[] = {
    {io::TensorType::Q4_0, {4, BlockScales::centred}},
    {io::TensorType::Q4_1, {4, BlockScales::shifted}},
    {io::TensorType::Q4_K, {4, BlockScales::nested}},
    {io::TensorType::Q5_0, {5, BlockScales::centred}},
    {io::TensorType::Q5_1, {5, BlockScales::shifted}},
    {io::TensorType::Q5_K, {5, BlockScales::nested}},
    {io::TensorType::Q8_0, {8, BlockScales::centred}},
};

// The low halves of 16 bytes, then their high halves.
void read_halves(const std::byte* from, std::uint8_t* q) {
  for (std::size_t i = 0; i < kColumns / 2; ++i) {
    const auto byte = std::to_integer<std::uint8_t>(from[i]);
    q[i] = byte & 15;
    q[i + kColumns / 2] = byte >> 4;
  }
}

void add_fifth_bits(const std::byte* from, std::uint8_t* q) {
  const auto bits = load<std::uint32_t>(from);
  for (std::size_t i = 0; i < kColumns; ++i) q[i] |= (bits >> i & 1) << 4;
}

// Q4_0, Q4_1, Q5_0, Q5_1: the scale, the minimum of shifted ones, fifth bits, 4 bits each.
void read_plain_block(BlockForm form, const std::byte* b, std::size_t block, BlockRow& to) {
  to.scales[block] = load<std::uint16_t>(b);
  b += 2;
  if (form.scales == BlockScales::shifted) {
    to.minima[block] = load<std::uint16_t>(b);
    b += 2;
  }
  std::uint8_t* const q = to.q.data() + block * kColumns;
  read_halves(form.bits == 5 ? b + 4 : b, q);
  if (form.bits == 5) add_fifth_bits(b, q);
}

// Q8_0: the scale, the integers with sign.
void read_byte_block(const std::byte* b, std::size_t block, BlockRow& to) {
  to.scales[block] = load<std::uint16_t>(b);
  for (std::size_t i = 0; i < kColumns; ++i) {
    to.q[block * kColumns + i] = std::to_integer<std::uint8_t>(b[2 + i]) ^ 0x80;
  }
}

// Q4_K, Q5_K: eight blocks; 32 bytes hold the low halves of one block and the high halves of the
// next, and those of fifth bits one bit of each block.
void read_nested_blocks(BlockForm form, const std::byte* b, std::size_t group, BlockRow& to) {
  to.scales[group] = load<std::uint16_t>(b);
  to.minima[group] = load<std::uint16_t>(b + 2);
  const std::byte* const fifth = b + 16;
  const std::byte* const low = form.bits == 5 ? b + 48 : b + 16;
  for (int j = 0; j < kNestedBlocks; ++j) {
    const std::size_t block = group * kNestedBlocks + static_cast<std::size_t>(j);
    const auto [scale, minimum] = reference::scale_and_minimum(b + 4, j);
    to.byte_scales[block] = static_cast<std::uint8_t>(scale);
    to.byte_minima[block] = static_cast<std::uint8_t>(minimum);
    std::uint8_t* const q = to.q.data() + block * kColumns;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const auto byte =
          std::to_integer<std::uint8_t>(low[static_cast<std::size_t>(j / 2) * 32 + i]);
      q[i] = j % 2 == 0 ? byte & 15 : byte >> 4;
      if (form.bits == 5) q[i] |= (std::to_integer<std::uint8_t>(fifth[i]) >> j & 1) << 4;
    }
  }
}

// ---- rounding -----------------------------------------------------------------------------------

// q = (x - minimum) / scale, from 0 to 15; the sum of squared errors.
struct Rounded {
  float scale, minimum;
  double error;
};

float quotient(float x, const Rounded& by) {
  const float q = by.scale > 0.0f ? std::nearbyint((x - by.minimum) / by.scale) : 0.0f;
  return std::clamp(q, 0.0f, 15.0f);
}

// The same with numbers that F16 has.
Rounded rounded(const float* x, std::size_t n, float scale, float minimum) {
  Rounded by{half_to_float(float_to_half(scale)), half_to_float(float_to_half(minimum)), 0.0};
  for (std::size_t i = 0; i < n; ++i) {
    const double miss = double{by.scale} * quotient(x[i], by) + by.minimum - x[i];
    by.error += miss * miss;
  }
  return by;
}

// The scale and the minimum with the least error for the q of another choice.
Rounded refined(const float* x, std::size_t n, const Rounded& by) {
  double sum_q = 0.0, sum_qq = 0.0, sum_x = 0.0, sum_qx = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double q = quotient(x[i], by);
    sum_q += q;
    sum_qq += q * q;
    sum_x += x[i];
    sum_qx += q * x[i];
  }
  const auto count = static_cast<double>(n);
  const double spread = count * sum_qq - sum_q * sum_q;
  if (spread <= 0.0) return by;
  const double scale = (count * sum_qx - sum_q * sum_x) / spread;
  const double minimum = (sum_x - scale * sum_q) / count;
  if (scale <= 0.0) return by;
  return rounded(x, n, static_cast<float>(scale), static_cast<float>(minimum));
}

// Some steps between the least and the greatest number, each with the line of least squares
// through its q.
Rounded best_of(const float* x, std::size_t n) {
  const auto [least, greatest] = std::minmax_element(x, x + n);
  const float range = *greatest - *least;
  Rounded best = rounded(x, n, range / 15.0f, *least);
  for (const float steps : {13.5f, 14.25f, 15.0f, 15.75f}) {
    const float scale = range / steps;
    Rounded one = rounded(x, n, scale, *least + (range - 15.0f * scale) / 2.0f);
    for (int i = 0; i < 2; ++i) one = refined(x, n, one);
    if (one.error < best.error) best = one;
  }
  return best;
}

constexpr std::uint16_t kNanHalf = 0x7e00;

}  // namespace

BlockRow::BlockRow(BlockForm form, std::int64_t in) {
  const auto blocks = static_cast<std::size_t>(block_count(in));
  const bool is_nested = form.scales == BlockScales::nested;
  q.resize(blocks * kColumns);
  scales.resize(is_nested ? blocks / kNestedBlocks : blocks);
  if (form.scales != BlockScales::centred) minima.resize(scales.size());
  if (!is_nested) return;
  byte_scales.resize(blocks);
  byte_minima.resize(blocks);
}

std::optional<BlockForm> block_form(io::TensorType type) {
  for (const GgufBlocks& one : kGgufBlocks) {
    if (one.type == type) return one.form;
  }
  return {};
}

void read_block_row(io::TensorType type, const std::byte* from, std::int64_t in, BlockRow& to) {
  const std::optional<BlockForm> form = block_form(type);
  const io::TensorTypeInfo& info = io::info(type);
  HEED_ASSERT(form && in % info.block == 0);
  const auto count = static_cast<std::size_t>(in) / info.block;
  for (std::size_t i = 0; i < count; ++i, from += info.block_bytes) {
    if (form->scales == BlockScales::nested) {
      read_nested_blocks(*form, from, i, to);
    } else if (form->bits == 8) {
      read_byte_block(from, i, to);
    } else {
      read_plain_block(*form, from, i, to);
    }
  }
}

void round_block_row(const float* from, std::int64_t in, BlockRow& to) {
  for (std::size_t block = 0; block < to.scales.size(); ++block) {
    const float* const x = from + block * kColumns;
    const std::size_t n = std::min(kColumns, static_cast<std::size_t>(in) - block * kColumns);
    const Rounded best = best_of(x, n);
    const bool is_finite = std::isfinite(best.error);
    to.scales[block] = is_finite ? float_to_half(best.scale) : kNanHalf;
    to.minima[block] = is_finite ? float_to_half(best.minimum) : kNanHalf;
    for (std::size_t i = 0; i < n; ++i) {
      to.q[block * kColumns + i] = is_finite ? static_cast<std::uint8_t>(quotient(x[i], best)) : 0;
    }
  }
}

void round_byte_row(const float* from, std::int64_t in, BlockRow& to) {
  for (std::size_t block = 0; block < to.scales.size(); ++block) {
    const float* const x = from + block * kColumns;
    const std::size_t n = std::min(kColumns, static_cast<std::size_t>(in) - block * kColumns);
    float greatest = 0.0f;
    for (std::size_t i = 0; i < n; ++i) greatest = std::max(greatest, std::abs(x[i]));
    const bool is_finite = std::all_of(x, x + n, [](float v) { return std::isfinite(v); });
    to.scales[block] = is_finite ? float_to_half(greatest / 127.0f) : kNanHalf;
    const float scale = half_to_float(to.scales[block]);
    for (std::size_t i = 0; i < n; ++i) {
      const float q = scale > 0.0f ? std::nearbyint(x[i] / scale) : 0.0f;
      to.q[block * kColumns + i] =
          static_cast<std::uint8_t>(std::clamp(q, -127.0f, 127.0f) + 128.0f);
    }
  }
}

}  // namespace heed::kernels
