// The random numbers of numpy.random.default_rng(seed): the PCG64 generator (O'Neill 2014) seeded
// through NumPy's SeedSequence, and integers below a bound by Lemire's method (2019). It makes
// resampled scores equal to those of sacreBLEU; everything else in heed uses heed/base/random.h.
#pragma once

#include <cstdint>
#include <optional>

namespace heed::evaluation {

/// NumPy's default random generator.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint64_t seed);

  /// An integer from 0 to n - 1, as drawn by Generator.integers(n) and Generator.choice(n); n is
  /// from 1 to 2^32 - 1.
  std::uint32_t below(std::uint32_t n);
  /// A bit, as drawn by Generator.integers(2, dtype=bool).
  bool coin();

 private:
  std::uint64_t next64();
  std::uint32_t next32();

  std::uint64_t state_high_ = 0, state_low_ = 0;
  std::uint64_t step_high_ = 0, step_low_ = 0;
  std::optional<std::uint32_t> half_;  // unused half of the last 64 bits
  std::uint32_t coins_ = 0;
  int coins_left_ = 0;
};

}  // namespace heed::evaluation
