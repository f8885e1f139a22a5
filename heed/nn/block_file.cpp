#include "heed/nn/block_file.h"

#include <cstring>

namespace heed {
namespace {

using io::TensorType;
using kernels::BlockRow;
using kernels::BlockScales;

constexpr std::string_view kFifth = "_fifth", kScale = "_scale", kMinimum = "_min",
                           kByteScale = "_scale_byte", kByteMinimum = "_min_byte";

void store_halves(const BlockRow& from, std::byte* to) {
  for (std::size_t i = 0; i < from.q.size(); i += 2) {
    *to++ = static_cast<std::byte>((from.q[i] & 15) | (from.q[i + 1] & 15) << 4);
  }
}
void restore_halves(const std::byte* from, BlockRow& to) {
  for (std::size_t i = 0; i < to.q.size(); i += 2) {
    const auto byte = std::to_integer<std::uint8_t>(*from++);
    to.q[i] = byte & 15;
    to.q[i + 1] = byte >> 4;
  }
}

void store_fifth(const BlockRow& from, std::byte* to) {
  for (std::size_t i = 0; i < from.q.size(); i += 8) {
    unsigned bits = 0;
    for (std::size_t j = 0; j < 8; ++j) bits |= (from.q[i + j] >> 4 & 1u) << j;
    *to++ = static_cast<std::byte>(bits);
  }
}
// After the low bits.
void restore_fifth(const std::byte* from, BlockRow& to) {
  for (std::size_t i = 0; i < to.q.size(); ++i) {
    to.q[i] |= (std::to_integer<std::uint8_t>(from[i / 8]) >> i % 8 & 1) << 4;
  }
}

void store_bytes(const BlockRow& from, std::byte* to) {
  for (const std::uint8_t q : from.q) *to++ = static_cast<std::byte>(q ^ 0x80);
}
void restore_bytes(const std::byte* from, BlockRow& to) {
  for (std::uint8_t& q : to.q) q = std::to_integer<std::uint8_t>(*from++) ^ 0x80;
}

// Lists of numbers are stored as they are.
template <auto kList>
BlockPart list_part(std::string_view suffix, TensorType type, std::int64_t columns) {
  return {suffix, type, columns,
          [](const BlockRow& from, std::byte* to) {
            const auto bytes = std::as_bytes(std::span(from.*kList));
            std::memcpy(to, bytes.data(), bytes.size());
          },
          [](const std::byte* from, BlockRow& to) {
            const auto bytes = std::as_writable_bytes(std::span(to.*kList));
            std::memcpy(bytes.data(), from, bytes.size());
          }};
}

}  // namespace

std::vector<BlockPart> block_parts(BlockForm form, std::int64_t in) {
  const std::int64_t blocks = kernels::block_count(in), columns = blocks * kernels::kBlockColumns;
  const bool is_nested = form.scales == BlockScales::nested;
  const std::int64_t units = is_nested ? blocks / kernels::kNestedBlocks : blocks;
  std::vector<BlockPart> parts;
  if (form.bits == 8) {
    parts.push_back({"", TensorType::I8, columns, store_bytes, restore_bytes});
  } else {
    parts.push_back({"", TensorType::U8, columns / 2, store_halves, restore_halves});
  }
  if (form.bits == 5) {
    parts.push_back({kFifth, TensorType::U8, columns / 8, store_fifth, restore_fifth});
  }
  parts.push_back(list_part<&BlockRow::scales>(kScale, TensorType::F16, units));
  if (form.scales == BlockScales::centred) return parts;
  parts.push_back(list_part<&BlockRow::minima>(kMinimum, TensorType::F16, units));
  if (!is_nested) return parts;
  parts.push_back(list_part<&BlockRow::byte_scales>(kByteScale, TensorType::U8, blocks));
  parts.push_back(list_part<&BlockRow::byte_minima>(kByteMinimum, TensorType::U8, blocks));
  return parts;
}

std::optional<BlockForm> stored_blocks(io::TensorType integers,
                                       FunctionRef<bool(std::string_view suffix)> exists) {
  if (integers == TensorType::I8) return BlockForm{.bits = 8, .scales = BlockScales::centred};
  if (integers != TensorType::U8) return {};
  return BlockForm{.bits = exists(kFifth) ? 5 : 4,
                   .scales = exists(kByteScale) ? BlockScales::nested
                             : exists(kMinimum) ? BlockScales::shifted
                                                : BlockScales::centred};
}

}  // namespace heed
