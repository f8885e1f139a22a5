// The keys that a block of queries attends to, cut into strips that are fully visible or need a
// mask. Hidden strips are skipped here, before any arithmetic.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "heed/kernels/attention/visibility.h"

namespace heed::kernels {

/// A few keys against some of a block's vectors of queries.
struct Strip {
  enum class Kind : std::uint8_t {
    open,   ///< Everything is visible.
    edge,   ///< Each row has one interval of visible keys.
    mixed,  ///< Visibility::fill says which keys are visible.
  };
  std::int64_t col, cols;
  std::int64_t vector, vectors;
  Kind kind;

  /// Whether `other` follows this strip and has the same vectors.
  bool joins(const Strip& other) const {
    return col + cols == other.col && vector == other.vector && vectors == other.vectors;
  }
};

/// Maximum number of queries in a block, for any instruction set.
inline constexpr std::int64_t kMaxBlockRows = 96;
/// Masks are applied, and hidden keys skipped, in steps of this many keys.
inline constexpr std::int64_t kStripKeys = 8;
/// Maximum number of keys in a tile.
inline constexpr std::int64_t kMaxTileKeys = 128;

class KeyPlan {
 public:
  /// For rows [row, row + rows) of a head against keys [0, keys), in vectors of `lanes`.
  KeyPlan(const Visibility* mask, Region region, std::int64_t lanes);

  /// All visible keys are in [begin, end).
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }
  std::int64_t keys() const { return std::max<std::int64_t>(end_ - begin_, 0); }

  /// Cuts keys [from, to), at most kMaxTileKeys of them, into strips.
  class Strips {
   public:
    const Strip* begin() const { return strips_.data(); }
    const Strip* end() const { return strips_.data() + count_; }
    void add(const Strip& strip);
    void clear() { count_ = 0; }

    /// Calls f with strips joined along the keys where they share their vectors, for products that
    /// sum over keys. (Edges, whose vectors change from strip to strip, were also tried in pairs,
    /// in threes and by vector: no gain.)
    template <typename F>
    void for_each_run(const F& f) const {
      for (const Strip* s = begin(); s != end();) {
        Strip run = *s++;
        for (; s != end() && run.joins(*s); ++s) {
          run.cols += s->cols;
          run.kind = std::max(run.kind, s->kind);
        }
        f(run);
      }
    }

   private:
    // Each strip of keys may be cut into runs of vectors of different kinds.
    std::array<Strip, static_cast<std::size_t>(kMaxTileKeys / kStripKeys * kMaxBlockRows / 4)>
        strips_;
    std::size_t count_ = 0;
  };
  void cut(std::int64_t from, std::int64_t to, Strips& strips) const;

  /// The interval of keys of each row, padded to whole vectors with that of the last row.
  const std::int32_t* first() const { return first_.data(); }
  const std::int32_t* last() const { return last_.data(); }

 private:
  void read_intervals();
  void cut_exact(std::int64_t from, std::int64_t to, Strips& strips) const;
  void cut_long(std::int64_t from, std::int64_t to, Strips& strips) const;
  std::int64_t next_change(std::int64_t from) const;
  void cut_mixed(std::int64_t from, std::int64_t to, Strips& strips) const;
  Cover cover(std::int64_t vector, std::int64_t from, std::int64_t to) const;

  const Visibility* mask_;
  Region region_;
  std::int64_t lanes_, vectors_;
  std::int64_t begin_, end_;            // range of keys visible to any row
  std::int64_t open_begin_, open_end_;  // range of keys visible to all rows
  bool exact_ = true;
  std::array<std::int32_t, kMaxBlockRows> first_, last_;
  // Minimum and maximum of first_ and last_ for each vector.
  struct Bounds {
    std::int32_t least_first, most_first, least_last, most_last;

    void add(std::int32_t first, std::int32_t last) {
      least_first = std::min(least_first, first);
      most_first = std::max(most_first, first);
      least_last = std::min(least_last, last);
      most_last = std::max(most_last, last);
    }
  };
  std::array<Bounds, kMaxBlockRows / 4> bounds_;
};

}  // namespace heed::kernels
