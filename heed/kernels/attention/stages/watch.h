// Stages that change nothing and keep what they see: scores as modifiers left them, or weights, of
// some heads and queries. Everybody else's tiles pass at the price of one look.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/tile.h"
#include "heed/kernels/attention/visibility.h"

namespace heed::kernels {

/// Who is watched, and where it is kept: [B, heads, rows, keys]. What nobody computes is left as it
/// is, so it begins with weights of 0 or scores of -inf.
template <typename T>
struct WatchTable {
  T* data = nullptr;
  std::int64_t heads = 0, rows = 0, keys = 0;
  const std::int32_t* head_slots = nullptr;  ///< [H]: a head's index among `heads`, or -1.
  const std::int32_t* row_slots = nullptr;   ///< [Tq]: a query's index among `rows`, or -1.

  /// The rows of a head, or null if it is not watched.
  T* head(std::int64_t batch, std::int64_t h) const {
    return head_slots[h] < 0 ? nullptr : data + (batch * heads + head_slots[h]) * rows * keys;
  }
  /// The keys of a query, or null; `head` is not.
  T* row(T* head, std::int64_t query) const {
    return row_slots[query] < 0 ? nullptr : head + row_slots[query] * keys;
  }
};

/// What both kinds share: begin and forward.
template <typename T>
class Watch : public TileStage<T> {
 public:
  enum class Of : std::uint8_t { scores, weights };
  Watch(const WatchTable<T>& table, Of of) : table_(table), of_(of) {}

  StageNeeds needs(std::int64_t rows, bool backward) const final;
  void begin(const RowBlock<T>& block, StageSpace<T> space) const final;
  void forward(const Tile<T>& tile, StageSpace<T> space) const final;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const final;

 protected:
  /// Of the block at hand.
  struct Seen {
    std::int64_t batch, head, rows;
    std::int64_t first, last;  ///< All keys seen so far lie in [first, last).
    T unit;                    ///< Times this it is kept.
  };
  static Seen load(StageSpace<T> space);
  /// Times factors[r], all that was kept of the block's row r.
  void scale(const Seen& seen, std::int64_t row, const T* factors) const;

  WatchTable<T> table_;

 private:
  Of of_;
};

/// Among modifiers: keeps scores, -inf where a query may not see the key.
template <typename T>
class ScoreWatch final : public Watch<T> {
 public:
  /// `see` is the program's.
  ScoreWatch(const WatchTable<T>& table, const Visibility* mask)
      : Watch<T>(table, Watch<T>::Of::scores), mask_(mask) {}

  void end(const RowBlock<T>& block, StageSpace<T> space) const override;

 private:
  const Visibility* mask_;
};

/// Among stages of weights: keeps weights as normalised.
template <typename T>
class WeightWatch final : public Watch<T> {
 public:
  explicit WeightWatch(const WatchTable<T>& table) : Watch<T>(table, Watch<T>::Of::weights) {}

  void rescale(const T* factors, StageSpace<T> space) const override;
  void end(const RowBlock<T>& block, StageSpace<T> space) const override;
  void close_part(const RowPart& part, T factor) const override;
};

extern template class ScoreWatch<float>;
extern template class ScoreWatch<double>;
extern template class WeightWatch<float>;
extern template class WeightWatch<double>;

}  // namespace heed::kernels
