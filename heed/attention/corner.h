// The positions of queries among keys when their numbers differ. Masks name the corner because
// libraries disagree: PyTorch's is_causal is top_left, decoding with a cache needs bottom_right.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heed {

/// Query i is at the position of key i + shift.
class Corner {
 public:
  enum Name : std::uint8_t { top_left, bottom_right };

  /// top_left: the first query is at the first key; bottom_right: the last query is at the last
  /// key.
  constexpr Corner(Name name) : name_(name) {}  // NOLINT(google-explicit-constructor): a name
  /// The first query is at key n, which may be negative.
  static constexpr Corner offset(std::int64_t n) {
    Corner corner(top_left);
    corner.shift_ = std::clamp(n, -kFar, kFar);
    return corner;
  }

  /// The shift for a sequence of that many queries and keys.
  constexpr std::int64_t shift(std::int64_t queries, std::int64_t keys) const {
    return name_ == bottom_right ? keys - queries : shift_;
  }

 private:
  static constexpr std::int64_t kFar = std::int64_t{1} << 40;
  Name name_;
  std::int64_t shift_ = 0;
};

}  // namespace heed
