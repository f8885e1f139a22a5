// Random choices of a case, all from one seed, and the errors by which a case fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "heed/base/random.h"

namespace heed::torture {

/// What a case has found.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_{seed, 0}, generator_(seed) {}

  /// From 0 to n - 1; 0 if n is 0.
  std::int64_t below(std::int64_t n) {
    return n <= 0 ? 0 : random_.below(next_++, static_cast<std::uint32_t>(n));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  double real(double low, double high) { return low + (high - low) * random_.uniform(next_++); }
  bool chance(double p) { return random_.uniform(next_++) < p; }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
  }
  /// A length: often small or at the edge of a tile, sometimes long.
  std::int64_t length(std::int64_t longest) {
    const std::vector<std::int64_t> edges = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};
    return std::min(longest, chance(0.4) ? pick(edges) : between(1, longest));
  }
  /// For functions that fill tensors.
  Generator& generator() { return generator_; }

 private:
  RandomStream random_;
  Generator generator_;
  std::uint64_t next_ = 0;
};

}  // namespace heed::torture
