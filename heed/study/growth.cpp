#include "heed/study/growth.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"

namespace heed {
namespace {

void check_positive(std::span<const double> x, std::span<const double> y) {
  HEED_CHECK(x.size() == y.size(), "[growth] {} costs at {} places: give one for each", y.size(),
             x.size());
  const auto positive = [](double a) { return a > 0.0 && std::isfinite(a); };
  HEED_CHECK(std::all_of(x.begin(), x.end(), positive) && std::all_of(y.begin(), y.end(), positive),
             "[growth] places and costs must be positive");
}

// p x + q x^2, by least squares of relative errors, so that small and large costs count equally.
struct TwoTerms {
  double linear, square;
};

TwoTerms fit_two_terms(std::span<const double> x, std::span<const double> y) {
  double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = x[i] / y[i], v = x[i] * u;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    u1 += u;
    v1 += v;
  }
  const double determinant = uu * vv - uv * uv;
  return {(u1 * vv - v1 * uv) / determinant, (v1 * uu - u1 * uv) / determinant};
}

}  // namespace

PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y) {
  check_positive(x, y);
  const auto n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  double together = 0, alone = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    together += dx * (std::log(y[i]) - mean_y);
    alone += dx * dx;
  }
  HEED_CHECK(alone > 0.0, "[growth] a power law needs costs at two different places at least");
  const double exponent = together / alone;
  return {exponent, std::exp(mean_y - exponent * mean_x)};
}

Crossover find_crossover(std::span<const double> x, std::span<const double> costs,
                         std::span<const double> other) {
  check_positive(x, costs);
  check_positive(x, other);
  HEED_CHECK(x.size() >= 2 && std::is_sorted(x.begin(), x.end()),
             "[growth] a crossover needs two places at least, in rising order");
  const auto lead = [&](std::size_t i) { return std::log(costs[i] / other[i]); };
  const std::size_t last = x.size() - 1;
  for (std::size_t i = last; i > 0 && lead(last) > 0.0; --i) {
    if (lead(i - 1) > 0.0) continue;
    const double share = -lead(i - 1) / (lead(i) - lead(i - 1));
    return {Crossover::Place::within, x[i - 1] * std::pow(x[i] / x[i - 1], share)};
  }
  const bool before = lead(last) > 0.0;
  const TwoTerms a = fit_two_terms(x, costs), b = fit_two_terms(x, other);
  const double at = (b.linear - a.linear) / (a.square - b.square);
  const bool sensible = std::isfinite(at) && (before ? at > 0.0 && at < x[0] : at >= x[last]);
  return {before ? Crossover::Place::before : Crossover::Place::after,
          sensible ? std::optional(at) : std::nullopt};
}

}  // namespace heed
