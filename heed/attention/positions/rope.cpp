#include "heed/attention/positions/rope.h"

#include <cmath>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

enum class Wave : std::uint8_t { cosine, sine };

// The cosines or sines of the angles of each feature's pair.
CodeTable::Value wave(Wave kind, const PositionConfig& config, std::int64_t D) {
  std::vector<double> frequencies;
  for (std::int64_t k = 0; k < D / 2; ++k) {
    const double exponent = -2.0 * static_cast<double>(k) / static_cast<double>(D);
    frequencies.push_back(std::pow(config.base, exponent) / config.scaling);
  }
  return [kind, D, halves = config.halves, frequencies = std::move(frequencies)](
             std::int64_t position, std::int64_t feature) {
    const std::int64_t pair = halves ? feature % (D / 2) : feature / 2;
    const bool first = halves ? feature < D / 2 : feature % 2 == 0;
    const double angle =
        static_cast<double>(position) * frequencies[static_cast<std::size_t>(pair)];
    if (kind == Wave::cosine) return std::cos(angle);
    return first ? -std::sin(angle) : std::sin(angle);
  };
}

// Checks the config before tables are made from it.
const PositionConfig& checked(const PositionConfig& config, std::int64_t D) {
  HEED_CHECK(D >= 2 && D % 2 == 0,
             "[rope] heads have {} features: the number must be even, they are rotated in pairs",
             D);
  HEED_CHECK(config.scaling > 0.0, "[rope] scaling is {}: it must be above 0", config.scaling);
  return config;
}

}  // namespace

Rope::Rope(const PositionConfig& config, const PositionSizes& sizes)
    : halves_(checked(config, sizes.head).halves),
      features_(sizes.head),
      cosines_(0, config.max_length, sizes.head, wave(Wave::cosine, config, sizes.head)),
      sines_(0, config.max_length, sizes.head, wave(Wave::sine, config, sizes.head)) {}

// (a, b) -> (a cos - b sin, b cos + a sin), as x * cosines + (b, a) * (-sin, sin).
Tensor Rope::rotate(const Tensor& x, std::int64_t first) const {
  HEED_CHECK(x.rank() == 4 && x.size(3) == features_, "[rope] x is {}: it must be [B, H, T, {}]",
             to_string(x.shape()), features_);
  const std::int64_t B = x.size(0), H = x.size(1), T = x.size(2), D = x.size(3);
  const Tensor rows = transpose(x, 1, 2);  // [B, T, H, D], the memory order of projections
  const int pair_axis = halves_ ? 3 : 4;
  const Shape pairs = halves_ ? Shape{B, T, H, 2, D / 2} : Shape{B, T, H, D / 2, 2};
  const auto [a, b] = split<2>(reshape(rows, pairs), pair_axis);
  const Tensor swapped = reshape(concat({b, a}, pair_axis), rows.shape());  // [B, T, H, D]
  const Tensor cosines = unsqueeze(cosines_.rows(first, T, x.dtype()), 1);  // [T, 1, D]
  const Tensor sines = unsqueeze(sines_.rows(first, T, x.dtype()), 1);      // [T, 1, D]
  return transpose(rows * cosines + swapped * sines, 1, 2);                 // [B, H, T, D]
}

}  // namespace heed
