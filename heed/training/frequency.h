// How long and how often, as Marian's users write it: "10e" is ten epochs, "500u" five hundred
// updates, "5Ku" five thousand, "0" never.
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

/// Reads such a text; a number alone counts updates. `what` names it in messages.
Frequency parse_frequency(std::string_view text, std::string_view what);

/// What a training run has done.
struct Done {
  std::int64_t updates = 0;
  std::int64_t epochs = 0;  ///< Whole ones.
};

/// Whether the update that led from `before` to `now` made it due again.
bool is_due(const Frequency& frequency, const Done& before, const Done& now);
/// Whether so much is done; never if the count is 0.
bool is_reached(const Frequency& frequency, const Done& now);

}  // namespace heed
