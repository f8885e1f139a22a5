// Relative keys of Shaw et al., "Self-attention with relative position representations" (2018):
// S[i, j] += scale * q_i . R[clip(j - i)], without a vector per pair: the products of a block's
// queries with all of R come first, and tiles add them along their diagonals.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/stages/relative_table.h"

namespace heed::kernels {

/// A modifier of scores; the table has D features.
template <typename T>
class ShawKeys final : public TileStage<T> {
 public:
  explicit ShawKeys(const RelativeTable<T>& table) : table_(table) {}

  StageNeeds needs(std::int64_t rows, bool backward) const override;
  void begin(const RowBlock<T>& block, StageSpace<T> space) const override;
  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;
  void end(const RowBlock<T>& block, StageSpace<T> space) const override;
  void finish(const StageSums<T>& sums) const override;

 private:
  RelativeTable<T> table_;
};

extern template class ShawKeys<float>;
extern template class ShawKeys<double>;

}  // namespace heed::kernels
