// Relative vectors of Shaw et al., "Self-attention with relative position representations" (2018),
// on keys and on values, without a vector per pair of query and key.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/stages/relative_table.h"

namespace heed::kernels {

/// The common part of both stages.
template <typename T>
class ShawStage : public TileStage<T> {
 public:
  explicit ShawStage(const RelativeTable<T>& table) : table_(table) {}

  StageNeeds needs(std::int64_t rows, bool backward) const final;
  void finish(const StageSums<T>& sums) const final;

 protected:
  RelativeTable<T> table_;
};

/// A modifier of scores: S[i, j] += scale * q_i . R[clip(j - i)]; the table has D features. The
/// products of a block's queries with all of R are computed first, and tiles add them along their
/// diagonals.
template <typename T>
class ShawKeys final : public ShawStage<T> {
 public:
  using ShawStage<T>::ShawStage;

  void begin(const RowBlock<T>& block, StageSpace<T> space) const override;
  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;
  void end(const RowBlock<T>& block, StageSpace<T> space) const override;
};

/// A stage on weights, which leaves them unchanged: output_i += sum over j of P[i, j] R[clip(j -
/// i)]; the table has Dv features. Weights are summed by distance, tile by tile, and the block's
/// sums are multiplied with R at the end.
template <typename T>
class ShawValues final : public ShawStage<T> {
 public:
  using ShawStage<T>::ShawStage;

  void begin(const RowBlock<T>& block, StageSpace<T> space) const override;
  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;
  void rescale(const T* factors, StageSpace<T> space) const override;
  void end(const RowBlock<T>& block, StageSpace<T> space) const override;
};

extern template class ShawKeys<float>;
extern template class ShawKeys<double>;
extern template class ShawValues<float>;
extern template class ShawValues<double>;

}  // namespace heed::kernels
