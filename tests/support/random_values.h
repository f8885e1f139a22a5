// Reproducible numbers for tests of kernels, which know no tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/base/random.h"

namespace heed::test {

/// n floats, uniform in [-1, 1).
inline std::vector<float> random_floats(std::int64_t n, std::uint64_t seed = 1) {
  const RandomStream stream = Generator(seed).next();
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 2.0f * stream.uniform(i) - 1.0f;
  return values;
}

/// The same values in double.
inline std::vector<double> widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

}  // namespace heed::test
