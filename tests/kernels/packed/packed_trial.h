// For tests of packed matrices: memory for one, and every way to compute a product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "heed/base/isa.h"
#include "heed/io/tensor_type.h"
#include "heed/kernels/packed/cpu.h"
#include "heed/kernels/packed/pack.h"
#include "heed/kernels/packed/pack_blocks.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels::test {

inline constexpr PackedForm kForms[] = {PackedForm::f32, PackedForm::bf16, PackedForm::int8,
                                        PackedForm::int4};
/// The forms of blocks that GGUF files have, with their types.
struct GgufForm {
  io::TensorType type;
  BlockForm blocks;
};
inline constexpr GgufForm kGgufForms[] = {{io::TensorType::Q4_0, {4, BlockScales::centred}},
                                          {io::TensorType::Q4_1, {4, BlockScales::shifted}},
                                          {io::TensorType::Q4_K, {4, BlockScales::nested}},
                                          {io::TensorType::Q5_0, {5, BlockScales::centred}},
                                          {io::TensorType::Q5_1, {5, BlockScales::shifted}},
                                          {io::TensorType::Q5_K, {5, BlockScales::nested}},
                                          {io::TensorType::Q8_0, {8, BlockScales::centred}}};

/// Random rows of a GGUF type, [out, in]; scales and minima are from 0.008 to 0.12.
inline std::vector<std::byte> random_gguf(io::TensorType type, std::int64_t out, std::int64_t in,
                                          std::uint64_t seed) {
  const io::TensorTypeInfo& info = io::info(type);
  std::vector<std::byte> bytes(static_cast<std::size_t>(out * in) / info.block * info.block_bytes);
  std::mt19937_64 random(seed);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  const bool has_minimum = info.name.ends_with("_1") || info.name.ends_with("_K");
  for (std::size_t at = 0; at < bytes.size(); at += info.block_bytes) {
    for (std::size_t place = 0; place <= (has_minimum ? 2 : 0); place += 2) {
      const auto half = static_cast<std::uint16_t>(0x2000 + random() % 0x1000);
      std::memcpy(bytes.data() + at + place, &half, sizeof half);
    }
  }
  return bytes;
}

/// A packed matrix with its memory; bytes that packing does not write are 0x55.
class OwnedMatrix {
 public:
  OwnedMatrix(PackedForm form, std::int64_t out, std::int64_t in, BlockForm blocks = {})
      : data_(
            static_cast<std::size_t>(padded_out(out) / kPanelRows * panel_bytes(form, in, blocks)),
            std::byte{0x55}),
        block_scales_(
            static_cast<std::size_t>(padded_out(out) / kPanelRows * block_scale_bytes(blocks, in)),
            std::byte{0x55}),
        scales_(static_cast<std::size_t>(padded_out(out) * scale_groups(in)), 5.0f),
        sums_(scales_.size(), 5),
        target_{.form = form,
                .out = out,
                .in = in,
                .data = data_.data(),
                .scales = form == PackedForm::int8 ? scales_.data() : nullptr,
                .sums = form == PackedForm::int8 ? sums_.data() : nullptr,
                .blocks = blocks,
                .block_scales = form == PackedForm::int4 ? block_scales_.data() : nullptr} {}
  OwnedMatrix(PackedForm form, std::int64_t out, std::int64_t in, const std::vector<float>& matrix)
      : OwnedMatrix(form, out, in) {
    pack(matrix.data(), in, target_);
  }
  OwnedMatrix(const OwnedMatrix&) = delete;
  OwnedMatrix& operator=(const OwnedMatrix&) = delete;

  /// Blocks of a GGUF type.
  OwnedMatrix(const GgufForm& form, std::int64_t out, std::int64_t in,
              const std::vector<std::byte>& rows)
      : OwnedMatrix(PackedForm::int4, out, in, form.blocks) {
    const std::int64_t bytes = std::ssize(rows) / out;
    pack_blocks([&](std::int64_t row,
                    BlockRow& to) { read_block_row(form.type, rows.data() + row * bytes, in, to); },
                target_);
  }

  const PackTarget& target() const { return target_; }
  PackedMatrix matrix() const { return target_; }
  const std::vector<std::byte>& data() const { return data_; }
  const std::vector<std::byte>& block_scales() const { return block_scales_; }
  const std::vector<float>& scales() const { return scales_; }
  const std::vector<std::int32_t>& sums() const { return sums_; }

 private:
  std::vector<std::byte> data_, block_scales_;
  std::vector<float> scales_;
  std::vector<std::int32_t> sums_;
  PackTarget target_;
};

/// Turns dot products of 8-bit integers and of bf16 on or off for as long as it lives.
class DotGuard {
 public:
  explicit DotGuard(bool on) { set(on); }
  ~DotGuard() { set(true); }
  DotGuard(const DotGuard&) = delete;
  DotGuard& operator=(const DotGuard&) = delete;

 private:
  static void set(bool on) {
    set_vnni(on);
    set_bf16_dot(on);
  }
};

/// Calls f with every instruction set in force, with and without dot products (VNNI, AVX512-BF16)
/// where the CPU has them: `f(name)`.
template <typename F>
void for_each_way(F&& f) {
  heed::test::for_each_isa([&](Isa isa) {
    for (const bool dots : {true, false}) {
      const DotGuard guard(dots);
      if (dots && !has_vnni() && !has_bf16_dot()) continue;
      f(std::string(name_of(isa)) + (dots ? " with dot products" : ""));
    }
  });
}

}  // namespace heed::kernels::test
