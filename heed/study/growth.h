// Growth of a measured cost: fitted power laws, and the point where one cost exceeds another.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace heed {

/// y = factor x^exponent.
struct PowerLaw {
  double exponent = 0.0;
  double factor = 0.0;
};

/// Fitted by least squares of the logarithms; all numbers positive, at least two different x.
PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y);

/// The point where one cost exceeds another.
struct Crossover {
  enum class Place : std::uint8_t {
    within,  ///< Between two of the measured points.
    before,  ///< Before the first point: it costs more at every point.
    after,   ///< After the last point: it costs less there.
  };
  Place place = Place::within;
  /// Between two points: interpolated linearly between their logarithms. Otherwise: where p x + q
  /// x^2, fitted to each cost, intersect, or none if that lies among the points.
  std::optional<double> at;
};

/// The last x at which `costs` rises above `other`; x ascending, all numbers positive.
Crossover find_crossover(std::span<const double> x, std::span<const double> costs,
                         std::span<const double> other);

}  // namespace heed
