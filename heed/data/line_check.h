// Finds lines of text that cannot be used for training, and stops or skips them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "heed/io/codec.h"

namespace heed {

/// What to do with a bad line.
enum class OnBad : std::uint8_t { stop, skip };

/// The names that configs use.
constexpr std::array<io::EnumName<OnBad>, 2> enum_names(OnBad) {
  return {{{OnBad::stop, "stop"}, {OnBad::skip, "skip"}}};
}

/// Why a line is bad.
enum class BadLine : std::uint8_t { utf8, nul, empty, too_long, columns };
inline constexpr std::size_t kBadLineKinds = 5;

/// "with broken UTF-8", "empty", …
std::string_view name_of(BadLine kind);

/// The problem of a line.
struct LineFault {
  BadLine kind;
  std::string what;  ///< "has broken UTF-8 at byte 7 (0xFF)"
};

/// The first fault of a line, if any. A line of only white space counts as empty.
std::optional<LineFault> find_fault(std::string_view line, std::size_t max_bytes);

/// The number of skipped lines of each kind, and the place of the first.
class BadLines {
 public:
  /// Counts a fault, or, with OnBad::stop, throws heed::Error with its place.
  void add(const LineFault& fault, const std::string& place, OnBad on_bad);

  std::int64_t count(BadLine kind) const { return all_[static_cast<std::size_t>(kind)].count; }
  /// The place of the first one, "corpus.en:17"; empty if there was none.
  const std::string& first(BadLine kind) const {
    return all_[static_cast<std::size_t>(kind)].first;
  }
  std::int64_t total() const;
  /// "2 with broken UTF-8 (first: corpus.en:17), 1 empty (first: corpus.de:3)"; "" when none.
  std::string describe() const;

 private:
  struct Entry {
    std::int64_t count = 0;
    std::string first;
  };
  std::array<Entry, kBadLineKinds> all_;
};

}  // namespace heed
