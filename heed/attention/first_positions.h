// The positions at which a call begins: one for all sequences, or one for each if they have
// different ages, as when a sequence joins others that are being decoded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

namespace heed {

class FirstPositions {
 public:
  FirstPositions(std::int64_t all) : all_(all) {}  // NOLINT(google-explicit-constructor)
  /// One for each sequence. The numbers must outlive it.
  FirstPositions(std::span<const std::int64_t> rows)  // NOLINT(google-explicit-constructor)
      : all_(rows.empty() ? 0 : rows.front()),
        rows_(std::ranges::adjacent_find(rows, std::not_equal_to<>()) == rows.end()
                  ? std::span<const std::int64_t>()
                  : rows) {}

  /// Whether all sequences begin at the same position.
  bool is_common() const { return rows_.empty(); }
  std::int64_t of(std::int64_t row) const {
    return is_common() ? all_ : rows_[static_cast<std::size_t>(row)];
  }
  std::int64_t least() const { return is_common() ? all_ : std::ranges::min(rows_); }
  std::int64_t greatest() const { return is_common() ? all_ : std::ranges::max(rows_); }

 private:
  std::int64_t all_;
  std::span<const std::int64_t> rows_;  // empty: the same for all
};

}  // namespace heed
