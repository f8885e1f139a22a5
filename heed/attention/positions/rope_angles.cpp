#include "heed/attention/positions/rope_angles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr double kTwoPi = 2.0 * std::numbers::pi;

std::vector<double> powers(double base, std::int64_t features) {
  std::vector<double> frequencies;
  for (std::int64_t k = 0; k < features / 2; ++k) {
    frequencies.push_back(
        std::pow(base, -2.0 * static_cast<double>(k) / static_cast<double>(features)));
  }
  return frequencies;
}

double dynamic_base(const PositionConfig& config, std::int64_t features, std::int64_t length) {
  const auto original = static_cast<double>(config.original_length);
  const double reached = std::max(static_cast<double>(length), original);
  const double growth = config.scaling * reached / original - (config.scaling - 1.0);
  const auto R = static_cast<double>(features);
  return config.base * std::pow(growth, R / (R - 2.0));
}

void scale_llama3(const PositionConfig& config, std::vector<double>& frequencies) {
  const double low = config.low_frequency_factor, high = config.high_frequency_factor;
  for (double& f : frequencies) {
    const double periods = static_cast<double>(config.original_length) * f / kTwoPi;
    const double kept = std::clamp((periods - low) / (high - low), 0.0, 1.0);
    f = (1.0 - kept) * f / config.scaling + kept * f;
  }
}

// The pair, as a real number, that has so many periods in original_length positions.
double pair_with(double periods, const PositionConfig& config, std::int64_t features) {
  const double ratio = static_cast<double>(config.original_length) / (periods * kTwoPi);
  return static_cast<double>(features) * std::log(ratio) / (2.0 * std::log(config.base));
}

void scale_yarn(const PositionConfig& config, std::int64_t features,
                std::vector<double>& frequencies) {
  double begin = pair_with(config.beta_fast, config, features);
  double end = pair_with(config.beta_slow, config, features);
  if (config.truncate) {
    begin = std::floor(begin);
    end = std::ceil(end);
  }
  begin = std::max(begin, 0.0);
  end = std::min(end, static_cast<double>(features - 1));
  if (begin == end) end += 0.001;  // as transformers does: a step instead of a division by 0
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    const double scaled = std::clamp((static_cast<double>(k) - begin) / (end - begin), 0.0, 1.0);
    frequencies[k] = frequencies[k] / config.scaling * scaled + frequencies[k] * (1.0 - scaled);
  }
}

double yarn_factor(const PositionConfig& config) {
  if (config.attention_factor > 0.0) return config.attention_factor;
  return config.scaling <= 1.0 ? 1.0 : 0.1 * std::log(config.scaling) + 1.0;
}

}  // namespace

void check_rope(const PositionConfig& config, std::int64_t features) {
  HEED_CHECK(config.scaling > 0.0, "[rope] scaling is {}: it must be above 0", config.scaling);
  const RopeScaling kind = config.scaling_kind;
  if (kind == RopeScaling::linear) return;
  HEED_CHECK(config.original_length >= 1,
             "[rope] scaling_kind {} needs original_length, the number of positions in training",
             io::enum_name(kind));
  HEED_CHECK(kind != RopeScaling::dynamic || features >= 4,
             "[rope] {} features are rotated: dynamic scaling needs at least 4", features);
  HEED_CHECK(
      kind != RopeScaling::llama3 || config.high_frequency_factor > config.low_frequency_factor,
      "[rope] high_frequency_factor {} must be above low_frequency_factor {}",
      config.high_frequency_factor, config.low_frequency_factor);
  if (kind != RopeScaling::yarn) return;
  HEED_CHECK(config.base > 1.0, "[rope] base {}: yarn scaling needs a base above 1", config.base);
  HEED_CHECK(config.beta_slow > 0.0 && config.beta_fast >= config.beta_slow,
             "[rope] beta_fast {}, beta_slow {}: beta_slow must be above 0 and at most beta_fast",
             config.beta_fast, config.beta_slow);
}

RopeAngles rope_angles(const PositionConfig& config, std::int64_t features, std::int64_t length) {
  check_rope(config, features);
  const RopeScaling kind = config.scaling_kind;
  const double base =
      kind == RopeScaling::dynamic ? dynamic_base(config, features, length) : config.base;
  RopeAngles angles{.frequencies = powers(base, features)};
  if (kind == RopeScaling::linear) {
    for (double& f : angles.frequencies) f /= config.scaling;
  } else if (kind == RopeScaling::llama3) {
    scale_llama3(config, angles.frequencies);
  } else if (kind == RopeScaling::yarn) {
    scale_yarn(config, features, angles.frequencies);
    angles.factor = yarn_factor(config);
  }
  return angles;
}

}  // namespace heed
