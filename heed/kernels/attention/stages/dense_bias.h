// A bias given number by number, learned or not: S[i, j] += bias[b, h, i, j], which any of batch,
// head and query may share.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// A bias by strides; a stride of 0 says that all share. Neighbouring keys are neighbours.
template <typename T>
struct DenseBiasTable {
  Heads<const T> values;
  Heads<T> gradient;      ///< With zeros among its strides where `values` has them, added to; data
                          ///< may be null.
  std::int64_t keys = 0;  ///< The most keys of a sequence.
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
  // Then every block of queries adds to the same few numbers, which go through the sums.
  bool one_row() const { return table_.gradient.row == 0; }

  DenseBiasTable<T> table_;
};

extern template class DenseBias<float>;
extern template class DenseBias<double>;

}  // namespace heed::kernels
