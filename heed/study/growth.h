// How a measured cost grows: power laws fitted to it, and where one cost overtakes another.
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

/// By least squares of the logarithms; all numbers positive, at least two different x.
PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y);

/// Where one cost becomes dearer than another.
struct Crossover {
  enum class Place : std::uint8_t {
    within,  ///< Between two of the points.
    before,  ///< It is dearer at every point.
    after,   ///< It is cheaper at the last point.
  };
  Place place = Place::within;
  /// Between two points by a straight line between their logarithms; else where p x + q x^2 fitted
  /// to each cost meet, or none if that lies among the points.
  std::optional<double> at;
};

/// The last x at which `costs` rises above `other`; x ascending, all numbers positive.
Crossover find_crossover(std::span<const double> x, std::span<const double> costs,
                         std::span<const double> other);

}  // namespace heed
