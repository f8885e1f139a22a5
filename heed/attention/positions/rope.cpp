#include "heed/attention/positions/rope.h"

#include <cmath>
#include <utility>
#include <vector>

#include "heed/attention/positions/rope_angles.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

enum class Wave : std::uint8_t { cosine, sine };

// The cosines or sines of the angles of each feature's pair.
CodeTable::Value wave(Wave kind, bool halves, RopeAngles angles) {
  return [kind, halves, angles = std::move(angles)](std::int64_t position, std::int64_t feature) {
    const auto pairs = static_cast<std::int64_t>(angles.frequencies.size());
    const std::int64_t pair = halves ? feature % pairs : feature / 2;
    const bool first = halves ? feature < pairs : feature % 2 == 0;
    const double angle =
        static_cast<double>(position) * angles.frequencies[static_cast<std::size_t>(pair)];
    if (kind == Wave::cosine) return angles.factor * std::cos(angle);
    return angles.factor * (first ? -std::sin(angle) : std::sin(angle));
  };
}

// The number of rotated features, after all checks.
std::int64_t rotated(const PositionConfig& config, std::int64_t D) {
  const std::int64_t R = config.rotary_features > 0 ? config.rotary_features : D;
  HEED_CHECK(R <= D, "[rope] rotary_features {}: heads have only {} features", R, D);
  HEED_CHECK(
      R >= 2 && R % 2 == 0,
      "[rope] {} features of a head are rotated: the number must be even, they are rotated in "
      "pairs",
      R);
  check_rope(config, R);
  return R;
}

}  // namespace

Rope::Rope(const PositionConfig& config, const PositionSizes& sizes)
    : config_(config),
      features_(sizes.head),
      rotated_(rotated(config, sizes.head)),
      waves_(waves(config.max_length, 0)) {}

// The waves of calls that reach positions below `length`; positions [0, ready) are computed now.
Rope::Waves Rope::waves(std::int64_t ready, std::int64_t length) const {
  const RopeAngles angles = rope_angles(config_, rotated_, length);
  return {CodeTable(0, ready, rotated_, wave(Wave::cosine, config_.halves, angles)),
          CodeTable(0, ready, rotated_, wave(Wave::sine, config_.halves, angles))};
}

Tensor Rope::rotate(const Tensor& x, FirstPositions first) const {
  HEED_CHECK(x.rank() == 4 && x.size(3) == features_, "[rope] x is {}: it must be [B, H, T, {}]",
             to_string(x.shape()), features_);
  const std::int64_t end = first.greatest() + x.size(2);
  if (config_.scaling_kind != RopeScaling::dynamic || end <= config_.original_length) {
    return rotate_features(x, waves_, first);
  }
  if (first.is_common()) return rotate_features(x, waves(0, end), first);
  std::vector<Tensor> rows;  // each has angles of its own
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    rows.push_back(rotate(slice(x, 0, b, b + 1), first.of(b)));
  }
  return concat(rows, 0);  // [B, H, T, D]
}

// (a, b) -> (a cos - b sin, b cos + a sin), as x * cosines + (b, a) * (-sin, sin).
Tensor Rope::rotate_features(const Tensor& x, const Waves& waves, FirstPositions first) const {
  const std::int64_t B = x.size(0), H = x.size(1), T = x.size(2), R = rotated_;
  const Tensor all = transpose(x, 1, 2);  // [B, T, H, D], the memory order of projections
  const Tensor rows = R < features_ ? slice(all, 3, 0, R) : all;  // [B, T, H, R]
  const int pair_axis = config_.halves ? 3 : 4;
  const Shape pairs = config_.halves ? Shape{B, T, H, 2, R / 2} : Shape{B, T, H, R / 2, 2};
  const auto [a, b] = split<2>(reshape(rows, pairs), pair_axis);
  const Tensor swapped = reshape(concat({b, a}, pair_axis), rows.shape());  // [B, T, H, R]
  const auto of_heads = [&](const CodeTable& table) {                       // [B or 1, T, 1, R]
    return unsqueeze(table.rows_of_each(first, B, T, x.dtype()), 2);
  };
  const Tensor cosines = of_heads(waves.cosines), sines = of_heads(waves.sines);
  Tensor y = rows * cosines + swapped * sines;                         // [B, T, H, R]
  if (R < features_) y = concat({y, slice(all, 3, R, features_)}, 3);  // [B, T, H, D]
  return transpose(y, 1, 2);                                           // [B, H, T, D]
}

}  // namespace heed
