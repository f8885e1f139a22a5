#include "heed/plot/pattern.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "heed/attention/registry.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed::plot {
namespace {

constexpr std::int64_t kFeatures = 32;
constexpr std::int64_t kMostPositions = 4096;  // 64 MB of weights for each head

// Waves of decreasing wavelength over the positions: neighbouring positions are similar, and so are
// some distant ones.
Tensor wavy(const Shape& shape, std::int64_t positions, std::uint64_t stream = 0) {
  const RandomStream noise{17, stream};
  Tensor x = empty(shape);  // [1, T, E]
  for (std::int64_t t = 0; t < positions; ++t) {
    for (std::int64_t f = 0; f < kFeatures; ++f) {
      const double turns = 0.5 * (1.0 + static_cast<double>(f / 4));
      const double angle =
          2.0 * std::numbers::pi * turns * static_cast<double>(t) / static_cast<double>(positions) +
          static_cast<double>(f);
      const auto at = t * kFeatures + f;
      x.mutable_data<float>()[at] = static_cast<float>(1.5 * std::sin(angle)) +
                                    0.15f * noise.normal(static_cast<std::uint64_t>(at));
    }
  }
  return x;
}

AttentionInput input_of(const Traits& traits, const PatternOptions& options) {
  const std::int64_t T = options.positions;
  AttentionInput in;
  in.x = wavy({1, T, kFeatures}, T);
  if (traits.form == Form::picture) in.x = wavy({1, kFeatures, 1, T}, T);
  if (traits.cross && !options.causal) in.memory = wavy({1, T, kFeatures}, T, 1);
  in.causal = options.causal;
  HEED_CHECK(!options.causal || traits.causal, "[pattern] this mechanism has no causal flag");
  return in;
}

}  // namespace

std::vector<Heatmap> pattern_of(const Mechanism& mechanism, const PatternOptions& options) {
  HEED_CHECK(options.positions > 0 && options.positions <= kMostPositions,
             "[pattern] positions is {}: give a number from 1 to {}", options.positions,
             kMostPositions);
  std::vector<std::string> all = {fmt::format("embed={}", kFeatures)};
  for (const std::string& option : sample_options(mechanism)) all.push_back(option);
  all.insert(all.end(), options.options.begin(), options.options.end());
  Generator generator(1);
  const auto layer = make_attention(mechanism.name, all, generator);
  layer->eval();
  const NoGrad off;
  AttentionInput in = input_of(mechanism.traits, options);
  Tensor weights;  // [1, H, R, Tk]
  in.weights = &weights;
  (*layer)(in);
  std::vector<Heatmap> maps;
  for (std::int64_t h = 0; h < weights.size(1); ++h) {
    Heatmap map;
    map.title = weights.size(1) == 1 ? std::string(mechanism.name)
                                     : fmt::format("{}, head {}", mechanism.name, h + 1);
    map.weights = view::select(view::select(weights, 0, 0), 0, h);  // [R, Tk]
    maps.push_back(map);
  }
  return maps;
}

}  // namespace heed::plot
