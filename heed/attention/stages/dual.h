// Dual numbers: a value with its derivative, carried through every operation (forward-mode
// differentiation). A function written for float is differentiated by calling it with one.
#pragma once

#include <cmath>
#include <compare>
#include <concepts>
#include <type_traits>

namespace heed {

/// Types that act as constants in operations with dual numbers.
template <typename A>
concept Constant = std::is_arithmetic_v<A>;

template <std::floating_point T>
struct Dual {
  T value = 0;
  T slope = 0;  ///< The derivative of value.

  constexpr Dual() = default;
  /// Without a slope it is a constant.
  constexpr Dual(T v, T s = 0) : value(v), slope(s) {}  // NOLINT(google-explicit-constructor)

  // Constants have their own operators, because 0 times an infinite value is not 0.
  friend constexpr Dual operator+(Dual a) { return a; }
  friend constexpr Dual operator-(Dual a) { return {-a.value, -a.slope}; }
  friend constexpr Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend constexpr Dual operator+(Dual a, Constant auto c) {
    return {a.value + static_cast<T>(c), a.slope};
  }
  friend constexpr Dual operator+(Constant auto c, Dual a) { return a + c; }
  friend constexpr Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend constexpr Dual operator-(Dual a, Constant auto c) {
    return {a.value - static_cast<T>(c), a.slope};
  }
  friend constexpr Dual operator-(Constant auto c, Dual a) {
    return {static_cast<T>(c) - a.value, -a.slope};
  }
  friend constexpr Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend constexpr Dual operator*(Dual a, Constant auto c) {
    return {a.value * static_cast<T>(c), a.slope * static_cast<T>(c)};
  }
  friend constexpr Dual operator*(Constant auto c, Dual a) { return a * c; }
  friend constexpr Dual operator/(Dual a, Dual b) {
    const T q = a.value / b.value;
    return {q, (a.slope - q * b.slope) / b.value};
  }
  friend constexpr Dual operator/(Dual a, Constant auto c) {
    return {a.value / static_cast<T>(c), a.slope / static_cast<T>(c)};
  }
  friend constexpr Dual operator/(Constant auto c, Dual a) {
    const T q = static_cast<T>(c) / a.value;
    return {q, -q * a.slope / a.value};
  }
  template <typename Other>
  constexpr Dual& operator+=(Other b) {
    return *this = *this + b;
  }
  template <typename Other>
  constexpr Dual& operator-=(Other b) {
    return *this = *this - b;
  }
  template <typename Other>
  constexpr Dual& operator*=(Other b) {
    return *this = *this * b;
  }
  template <typename Other>
  constexpr Dual& operator/=(Other b) {
    return *this = *this / b;
  }

  // Comparisons compare values.
  friend constexpr bool operator==(Dual a, Dual b) { return a.value == b.value; }
  friend constexpr bool operator==(Dual a, Constant auto c) { return a.value == static_cast<T>(c); }
  friend constexpr auto operator<=>(Dual a, Dual b) { return a.value <=> b.value; }
  friend constexpr auto operator<=>(Dual a, Constant auto c) {
    return a.value <=> static_cast<T>(c);
  }

  friend Dual exp(Dual x) {
    const T y = std::exp(x.value);
    return {y, y * x.slope};
  }
  friend Dual log(Dual x) { return {std::log(x.value), x.slope / x.value}; }
  friend Dual tanh(Dual x) {
    const T y = std::tanh(x.value);
    return {y, (1 - y * y) * x.slope};
  }
  friend Dual sqrt(Dual x) {
    const T y = std::sqrt(x.value);
    return {y, x.slope / (2 * y)};
  }
  friend Dual sin(Dual x) { return {std::sin(x.value), std::cos(x.value) * x.slope}; }
  friend Dual cos(Dual x) { return {std::cos(x.value), -std::sin(x.value) * x.slope}; }
  friend constexpr Dual abs(Dual x) { return x.value < 0 ? -x : x; }
  friend Dual pow(Dual x, Constant auto c) {
    const auto n = static_cast<T>(c);
    return {std::pow(x.value, n), n * std::pow(x.value, n - 1) * x.slope};
  }
  friend Dual pow(Dual x, Dual y) { return exp(y * log(x)); }
  // Of two equal numbers the first, as in std::max and std::min.
  friend constexpr Dual max(Dual a, Dual b) { return a.value < b.value ? b : a; }
  friend constexpr Dual max(Dual a, Constant auto c) { return max(a, Dual(static_cast<T>(c))); }
  friend constexpr Dual max(Constant auto c, Dual a) { return max(Dual(static_cast<T>(c)), a); }
  friend constexpr Dual min(Dual a, Dual b) { return b.value < a.value ? b : a; }
  friend constexpr Dual min(Dual a, Constant auto c) { return min(a, Dual(static_cast<T>(c))); }
  friend constexpr Dual min(Constant auto c, Dual a) { return min(Dual(static_cast<T>(c)), a); }
};

}  // namespace heed
