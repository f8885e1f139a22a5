// A bias for every score, learned or not: S[i, j] += bias[b, h, i, j]. Batches, heads and queries
// may share it.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// A bias by strides; a stride of 0 means that all share it. Keys are contiguous.
template <typename T>
struct DenseBiasTable {
  Heads<const T> values;
  Heads<T> gradient;      ///< Strides of 0 where `values` has them; added to; data may be null.
  std::int64_t keys = 0;  ///< Maximum number of keys of a sequence.
};

template <typename T>
class DenseBias final : public TileStage<T> {
 public:
  explicit DenseBias(const DenseBiasTable<T>& table) : table_(table) {}

  StageNeeds needs(std::int64_t rows, bool backward) const override;
  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;
  void finish(const StageSums<T>& sums) const override;
  bool in_turn() const override;

 private:
  bool learned() const { return table_.gradient.data != nullptr; }
  // If true, all blocks of queries add to the same few numbers, through the sums.
  bool one_row() const { return table_.gradient.row == 0; }

  DenseBiasTable<T> table_;
};

extern template class DenseBias<float>;
extern template class DenseBias<double>;

}  // namespace heed::kernels
