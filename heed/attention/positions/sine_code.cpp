#include "heed/attention/positions/sine_code.h"

#include <cmath>
#include <numbers>

namespace heed {

CodeTable::Value sine_code(std::int64_t features, std::int64_t max_length) {
  const std::int64_t sines = (features + 1) / 2;
  return [sines, max_length](std::int64_t l, std::int64_t f) {
    const bool sine = f < sines;
    const std::int64_t k = sine ? f + 1 : f - sines + 1;
    const double angle =
        std::numbers::pi * static_cast<double>(l * k) / static_cast<double>(max_length);
    return sine ? std::sin(angle) : std::cos(angle);
  };
}

SineCode::SineCode(const PositionConfig& config, const PositionSizes& sizes)
    : AddedTable("sine_code", sizes.embed, config.max_length, config.max_length,
                 sine_code(sizes.embed, config.max_length)) {}

}  // namespace heed
