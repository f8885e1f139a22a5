// Which keys a block of queries must look at, cut into strips that are wholly visible or need a
// mask. What is hidden is left out here, before any arithmetic.
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
    edge,   ///< A row sees its interval of keys.
    mixed,  ///< Visibility::fill knows.
  };
  std::int64_t col, cols;
  std::int64_t vector, vectors;
  Kind kind;

  /// The other one follows with the same vectors.
  bool joins(const Strip& other) const {
    return col + cols == other.col && vector == other.vector && vectors == other.vectors;
  }
};

/// The most queries in a block, on any instruction set.
inline constexpr std::int64_t kMaxBlockRows = 96;
/// Masks are applied, and hidden keys skipped, by this many keys.
inline constexpr std::int64_t kStripKeys = 8;
/// The most keys in a tile.
inline constexpr std::int64_t kMaxTileKeys = 128;

class KeyPlan {
 public:
  /// For rows [row, row + rows) of a head against keys [0, keys), in vectors of `lanes`.
  KeyPlan(const Visibility* mask, Region region, std::int64_t lanes);

  /// All visible keys lie in [begin, end).
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }

  /// The strips of keys [from, to), at most kMaxTileKeys of them.
  class Strips {
   public:
    const Strip* begin() const { return strips_.data(); }
    const Strip* end() const { return strips_.data() + count_; }
    void add(const Strip& strip);
    void clear() { count_ = 0; }

    /// Calls f with strips joined along the keys where they share their vectors, as a product that
    /// sums over keys wants them. (Edges, whose vectors change from strip to strip, were also tried
    /// in pairs, in threes and by vector: no gain.)
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
    // Each strip of keys may fall into runs of vectors of every kind.
    std::array<Strip, static_cast<std::size_t>(kMaxTileKeys / kStripKeys * kMaxBlockRows / 4)>
        strips_;
    std::size_t count_ = 0;
  };
  void cut(std::int64_t from, std::int64_t to, Strips& strips) const;

  /// The interval of keys of each row, padded to whole vectors with the last row's.
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
  std::int64_t begin_, end_;            // of all that is visible
  std::int64_t open_begin_, open_end_;  // of what is visible to all
  bool exact_ = true;
  std::array<std::int32_t, kMaxBlockRows> first_, last_;
  // Of each vector: the least and the most of first_ and last_.
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
