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
  KeyPlan(const Visibility* see, Region region, std::int64_t lanes);

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

    /// Calls f with strips joined along the keys, as a product that sums over keys wants them: what
    /// shares its vectors as one, and edges, whose vectors change from strip to strip, by vector.
    template <typename F>
    void for_each_run(const F& f) const {
      for (const Strip* s = begin(); s != end();) {
        const Strip* next = s + 1;
        if (s->kind != Strip::Kind::edge) {
          Strip run = *s;
          for (; next != end() && next->kind != Strip::Kind::edge && run.joins(*next); ++next) {
            run.cols += next->cols;
            run.kind = std::max(run.kind, next->kind);
          }
          f(run);
        } else {
          while (next != end() && next->kind == Strip::Kind::edge) ++next;
          for_each_column(s, next, f);
        }
        s = next;
      }
    }

   private:
    template <typename F>
    static void for_each_column(const Strip* from, const Strip* to, const F& f) {
      std::int64_t first = from->vector, last = 0;
      for (const Strip* s = from; s != to; ++s) {
        first = std::min(first, s->vector);
        last = std::max(last, s->vector + s->vectors);
      }
      for (std::int64_t v = first; v < last; ++v) {
        Strip run{0, 0, v, 1, Strip::Kind::edge};
        for (const Strip* s = from; s != to; ++s) {
          if (v < s->vector || v >= s->vector + s->vectors) continue;
          if (run.cols > 0 && run.col + run.cols != s->col) {
            f(run);
            run.cols = 0;
          }
          if (run.cols == 0) run.col = s->col;
          run.cols += s->cols;
        }
        if (run.cols > 0) f(run);
      }
    }
    // Each strip of keys may fall into runs of vectors of every kind.
    std::array<Strip, static_cast<std::size_t>(kMaxTileKeys / kStripKeys * kMaxBlockRows / 4)>
        strips_;
    std::size_t count_ = 0;
  };
  void cut(std::int64_t from, std::int64_t to, Strips& strips) const;

  /// The interval of keys of each row, padded to whole vectors with the last row's.
  const std::int64_t* first() const { return first_.data(); }
  const std::int64_t* last() const { return last_.data(); }

 private:
  void cut_exact(std::int64_t from, std::int64_t to, Strips& strips) const;
  void cut_mixed(std::int64_t from, std::int64_t to, Strips& strips) const;
  Cover cover(std::int64_t vector, std::int64_t from, std::int64_t to) const;

  const Visibility* see_;
  Region region_;
  std::int64_t lanes_, vectors_;
  std::int64_t begin_, end_;            // of all that is visible
  std::int64_t open_begin_, open_end_;  // of what is visible to all
  bool exact_ = true;
  alignas(64) std::array<std::int64_t, kMaxBlockRows> first_, last_;
};

}  // namespace heed::kernels
