// Stages that change nothing and copy out what they observe: scores after modifiers, or weights, of
// chosen heads and queries. Tiles of other heads cost one comparison.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/tile.h"
#include "heed/kernels/attention/visibility.h"

namespace heed::kernels {

/// Which heads and queries are observed, and where their numbers go: [B, heads, rows, keys].
/// Elements that are never computed keep their value, so the caller fills it with weights of 0 or
/// scores of -inf first.
template <typename T>
struct ObserverTable {
  T* data = nullptr;
  std::int64_t heads = 0, rows = 0, keys = 0;
  const std::int32_t* head_slots = nullptr;  ///< [H]: the index of a head among `heads`, or -1.
  const std::int32_t* row_slots = nullptr;   ///< [Tq]: the index of a query among `rows`, or -1.

  /// The rows of a head, or null if it is not observed.
  T* head(std::int64_t batch, std::int64_t h) const {
    return head_slots[h] < 0 ? nullptr : data + (batch * heads + head_slots[h]) * rows * keys;
  }
  /// The keys of a query, or null if it is not observed; `head` must not be null.
  T* row(T* head, std::int64_t query) const {
    return row_slots[query] < 0 ? nullptr : head + row_slots[query] * keys;
  }
};

/// The common part of both stages: begin and forward.
template <typename T>
class ObserverStage : public TileStage<T> {
 public:
  enum class Of : std::uint8_t { scores, weights };
  ObserverStage(const ObserverTable<T>& table, Of of) : table_(table), of_(of) {}

  StageNeeds needs(std::int64_t rows, bool backward) const final;
  void begin(const RowBlock<T>& block, StageSpace<T> space) const final;
  void forward(const Tile<T>& tile, StageSpace<T> space) const final;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const final;

 protected:
  /// The part of the current block that was copied so far.
  struct Copied {
    std::int64_t batch, head, rows;
    std::int64_t first, last;  ///< All copied keys are in [first, last).
    T unit;                    ///< The factor by which numbers are multiplied when copied.
  };
  static Copied load(StageSpace<T> space);
  /// Multiplies the copied numbers of the block's row r by factors[r].
  void scale(const Copied& copied, std::int64_t row, const T* factors) const;

  ObserverTable<T> table_;

 private:
  Of of_;
};

/// Among modifiers: copies scores, with -inf for hidden keys.
template <typename T>
class ScoreObserver final : public ObserverStage<T> {
 public:
  /// `mask` is that of the program; null if nothing is hidden.
  ScoreObserver(const ObserverTable<T>& table, const Visibility* mask)
      : ObserverStage<T>(table, ObserverStage<T>::Of::scores), mask_(mask) {}

  void end(const RowBlock<T>& block, StageSpace<T> space) const override;

 private:
  const Visibility* mask_;
};

/// Among reweights: copies normalised weights.
template <typename T>
class WeightObserver final : public ObserverStage<T> {
 public:
  explicit WeightObserver(const ObserverTable<T>& table)
      : ObserverStage<T>(table, ObserverStage<T>::Of::weights) {}

  void rescale(const T* factors, StageSpace<T> space) const override;
  void end(const RowBlock<T>& block, StageSpace<T> space) const override;
  void close_part(const RowPart& part, T factor) const override;
  bool copies_rows() const override { return true; }
  void copy_row(const RowPart& part, const T* weights) const override;
};

extern template class ScoreObserver<float>;
extern template class ScoreObserver<double>;
extern template class WeightObserver<float>;
extern template class WeightObserver<double>;

}  // namespace heed::kernels
