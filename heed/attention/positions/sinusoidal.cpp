#include "heed/attention/positions/sinusoidal.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace heed {

CodeTable::Value sinusoid(std::int64_t features, const SinusoidOptions& options) {
  const bool halves = options.halves;
  const std::int64_t sines = options.inclusive ? features / 2 : (features + 1) / 2;
  // The number of steps from frequency 1 to 1 / base; one pair alone has frequency 1.
  const double steps = options.inclusive ? std::max(1.0, static_cast<double>(sines - 1))
                                         : static_cast<double>(features) / 2.0;
  std::vector<double> frequencies;
  for (std::int64_t k = 0; k < sines; ++k) {
    frequencies.push_back(std::pow(options.base, -static_cast<double>(k) / steps));
  }
  return [halves, sines, inclusive = options.inclusive, frequencies = std::move(frequencies)](
             std::int64_t position, std::int64_t feature) {
    if (inclusive && feature == 2 * sines) return 0.0;
    const std::int64_t k = halves ? feature % sines : feature / 2;
    const bool cosine = halves ? feature >= sines : feature % 2 == 1;
    const double angle = static_cast<double>(position) * frequencies[static_cast<std::size_t>(k)];
    return cosine ? std::cos(angle) : std::sin(angle);
  };
}

Sinusoidal::Sinusoidal(const PositionConfig& config, const PositionSizes& sizes)
    : AddedTable("sinusoidal", sizes.embed, kAnyLength, config.max_length,
                 sinusoid(sizes.embed, {config.base, config.halves, config.inclusive}),
                 config.offset) {}

}  // namespace heed
