// Durations and frequencies in Marian's notation: "10e" is ten epochs, "500u" five hundred updates,
// "5Ku" five thousand, "0" never.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

struct Frequency {
  enum class Unit : std::uint8_t { updates, epochs };
  std::int64_t count = 0;  ///< 0: never.
  Unit unit = Unit::updates;

  friend bool operator==(const Frequency&, const Frequency&) = default;
};

/// Parses such a text; a plain number counts updates. `what` names it in messages.
Frequency parse_frequency(std::string_view text, std::string_view what);

/// The progress of a training run.
struct Done {
  std::int64_t updates = 0;
  std::int64_t epochs = 0;  ///< Complete ones.
};

/// Whether it became due between `before` and `now`.
bool is_due(const Frequency& frequency, const Done& before, const Done& now);
/// Whether `now` has reached it; never if the count is 0.
bool is_reached(const Frequency& frequency, const Done& now);

}  // namespace heed
