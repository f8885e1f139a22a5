// Relative values of Shaw et al. (2018): output_i += sum over j of P[i, j] R[clip(j - i)]. Tiles
// add their weights up by distance, and the block's sums are multiplied with R at the end.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/stages/relative_table.h"

namespace heed::kernels {

/// A stage after weights: it leaves them as they are; the table has Dv features.
template <typename T>
class ShawValues final : public TileStage<T> {
 public:
  explicit ShawValues(const RelativeTable<T>& table) : table_(table) {}

  StageNeeds needs(std::int64_t rows, bool backward) const override;
  void begin(const RowBlock<T>& block, StageSpace<T> space) const override;
  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;
  void rescale(const T* factors, StageSpace<T> space) const override;
  void end(const RowBlock<T>& block, StageSpace<T> space) const override;
  void finish(const StageSums<T>& sums) const override;

 private:
  RelativeTable<T> table_;
};

extern template class ShawValues<float>;
extern template class ShawValues<double>;

}  // namespace heed::kernels
