#include "heed/attention/positions/sinusoidal.h"

#include <cmath>
#include <utility>
#include <vector>

namespace heed {

CodeTable::Value sinusoid(std::int64_t features, double base, bool halves) {
  const std::int64_t sines = (features + 1) / 2;
  std::vector<double> frequencies;
  for (std::int64_t k = 0; k < sines; ++k) {
    frequencies.push_back(
        std::pow(base, -2.0 * static_cast<double>(k) / static_cast<double>(features)));
  }
  return [halves, sines, frequencies = std::move(frequencies)](std::int64_t position,
                                                               std::int64_t feature) {
    const std::int64_t k = halves ? feature % sines : feature / 2;
    const bool cosine = halves ? feature >= sines : feature % 2 == 1;
    const double angle = static_cast<double>(position) * frequencies[static_cast<std::size_t>(k)];
    return cosine ? std::cos(angle) : std::sin(angle);
  };
}

Sinusoidal::Sinusoidal(const PositionConfig& config, const PositionSizes& sizes)
    : AddedTable("sinusoidal", sizes.embed, kAnyLength, config.max_length,
                 sinusoid(sizes.embed, config.base, config.halves)) {}

}  // namespace heed
