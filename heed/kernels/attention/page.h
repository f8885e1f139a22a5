// A page holds the keys and values of 16 positions of one sequence, for all heads. The keys of a
// full page are transposed, so that one vector holds a feature of neighbouring positions: scores
// are sums of vectors, without sums across lanes. While a page has room, it holds keys one after
// another, so that a new key touches few cache lines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "heed/io/codec.h"

namespace heed::kernels {

inline constexpr std::int64_t kPagePositions = 16;

/// The form of the numbers in a cache.
enum class CacheForm : std::uint8_t {
  f32,
  bf16,  ///< Rounded to bf16.
  int8,  ///< Integers from -127 to 127, with a scale for each position and head.
};

/// The names that configs use.
constexpr std::array<io::EnumName<CacheForm>, 3> enum_names(CacheForm) {
  return {{{CacheForm::f32, "f32"}, {CacheForm::bf16, "bf16"}, {CacheForm::int8, "int8"}}};
}

/// Bytes of one number.
constexpr std::int64_t size_of(CacheForm form) {
  return form == CacheForm::f32 ? 4 : form == CacheForm::bf16 ? 2 : 1;
}

/// The sizes of a cache, and the layout of its pages: for each head keys [D, 16], or [16, D] while
/// there is room, then for each head values [16, padded Dv]. Each of these parts starts at a cache
/// line; of int8, it begins with the scales of its 16 positions.
struct PageShape {
  std::int64_t G;      ///< Heads of keys and values.
  std::int64_t D, Dv;  ///< Features of keys and of values.
  CacheForm form = CacheForm::f32;

  std::int64_t padded_values() const { return (Dv + 15) / 16 * 16; }
  std::int64_t scale_bytes() const {
    return form == CacheForm::int8 ? kPagePositions * std::int64_t{sizeof(float)} : 0;
  }
  /// Bytes of the keys and of the values of one head.
  std::int64_t key_bytes() const { return part_bytes(D); }
  std::int64_t value_bytes() const { return part_bytes(padded_values()); }
  std::int64_t bytes() const { return G * (key_bytes() + value_bytes()); }
  /// Where the keys and the values of head g start.
  std::int64_t keys_at(std::int64_t g) const { return g * key_bytes(); }
  std::int64_t values_at(std::int64_t g) const { return G * key_bytes() + g * value_bytes(); }

 private:
  std::int64_t part_bytes(std::int64_t features) const {
    constexpr std::int64_t kLine = 64;
    const std::int64_t numbers = features * kPagePositions * size_of(form);
    return scale_bytes() + (numbers + kLine - 1) / kLine * kLine;
  }
};

/// Some positions of one sequence, as the layer computes them.
struct NewPositions {
  const float *k, *v;
  std::int64_t k_head, k_position;  // strides of k; features are adjacent
  std::int64_t v_head, v_position;
};

/// Writes `count` positions into the slots of a page from `slot` on, which must be the next ones.
/// A page that is full then gets its keys transposed.
void write_positions(const PageShape& shape, std::int64_t slot, std::int64_t count,
                     const NewPositions& from, std::byte* page);

/// Copies the first `count` positions of a page that has room for more.
void copy_positions(const PageShape& shape, std::int64_t count, const std::byte* from,
                    std::byte* to);

/// Reads head g of one position of a page that holds `count` positions: [D] and [Dv].
void read_position(const PageShape& shape, const std::byte* page, std::int64_t count,
                   std::int64_t slot, std::int64_t g, float* k, float* v);

}  // namespace heed::kernels
