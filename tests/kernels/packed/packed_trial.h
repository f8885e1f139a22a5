// For tests of packed matrices: memory for one, and every way to compute a product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/base/isa.h"
#include "heed/kernels/packed/cpu.h"
#include "heed/kernels/packed/pack.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels::test {

inline constexpr PackedForm kForms[] = {PackedForm::f32, PackedForm::bf16, PackedForm::int8};

/// A packed matrix with its memory; bytes that packing does not write are 0x55.
class OwnedMatrix {
 public:
  OwnedMatrix(PackedForm form, std::int64_t out, std::int64_t in)
      : data_(static_cast<std::size_t>(padded_out(out) / kPanelRows * panel_bytes(form, in)),
              std::byte{0x55}),
        scales_(static_cast<std::size_t>(padded_out(out) * scale_groups(in)), 5.0f),
        sums_(scales_.size(), 5),
        target_{.form = form,
                .out = out,
                .in = in,
                .data = data_.data(),
                .scales = form == PackedForm::int8 ? scales_.data() : nullptr,
                .sums = form == PackedForm::int8 ? sums_.data() : nullptr} {}
  OwnedMatrix(PackedForm form, std::int64_t out, std::int64_t in, const std::vector<float>& matrix)
      : OwnedMatrix(form, out, in) {
    pack(matrix.data(), in, target_);
  }
  OwnedMatrix(const OwnedMatrix&) = delete;
  OwnedMatrix& operator=(const OwnedMatrix&) = delete;

  const PackTarget& target() const { return target_; }
  PackedMatrix matrix() const { return target_; }
  const std::vector<std::byte>& data() const { return data_; }
  const std::vector<float>& scales() const { return scales_; }
  const std::vector<std::int32_t>& sums() const { return sums_; }

 private:
  std::vector<std::byte> data_;
  std::vector<float> scales_;
  std::vector<std::int32_t> sums_;
  PackTarget target_;
};

/// Turns dot products of 8-bit integers on or off for as long as it lives.
class VnniGuard {
 public:
  explicit VnniGuard(bool on) { set_vnni(on); }
  ~VnniGuard() { set_vnni(true); }
  VnniGuard(const VnniGuard&) = delete;
  VnniGuard& operator=(const VnniGuard&) = delete;
};

/// Calls f with every instruction set in force, with and without VNNI where the CPU has it:
/// `f(name)`.
template <typename F>
void for_each_way(F&& f) {
  heed::test::for_each_isa([&](Isa isa) {
    for (const bool vnni : {true, false}) {
      const VnniGuard guard(vnni);
      if (vnni && !has_vnni()) continue;
      f(std::string(name_of(isa)) + (vnni ? " with VNNI" : ""));
    }
  });
}

}  // namespace heed::kernels::test
