// Which keys a query may attend to: the interface by which the driver of attention skips hidden
// keys.
#pragma once

#include <cstdint>

#include "heed/base/arena_object.h"

namespace heed::kernels {

/// How much of a region is visible.
enum class Cover : std::uint8_t { none, some, all };

/// A rectangle of queries x keys of one head.
struct Region {
  std::int64_t batch = 0, head = 0;
  std::int64_t row = 0, rows = 0;
  std::int64_t col = 0, cols = 0;
};

class Visibility : public ArenaObject {
 public:
  virtual ~Visibility() = default;

  /// Sets [first[r], last[r]) to an interval within the region's columns that contains every
  /// visible key of row r (first = last if there is none). Returns whether all keys of these
  /// intervals are visible; if so, the driver calls neither cover nor fill for these rows.
  virtual bool intervals(const Region& region, std::int64_t* first, std::int64_t* last) const = 0;

  /// `some` is always a correct answer; the others are faster.
  virtual Cover cover(const Region& region) const = 0;

  /// visible[c * stride + r] = 1 if row r may attend to column c, else 0.
  virtual void fill(const Region& region, std::uint8_t* visible, std::int64_t stride) const = 0;

  /// The same in bits, where a mask has them: bit r % 8 of bytes[r / 8 * stride + c] is 1 if row r
  /// may attend to column c.
  struct Bits {
    const std::uint8_t* bytes = nullptr;  ///< Or null: call fill.
    std::int64_t stride = 0;
  };
  virtual Bits bits(std::int64_t batch, std::int64_t head) const {
    static_cast<void>(batch), static_cast<void>(head);
    return {};
  }
};

}  // namespace heed::kernels
