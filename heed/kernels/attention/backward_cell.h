// One cell of attention's backward pass: a query head against a range of keys (parts.h).
#pragma once

#include <cstdint>

#include "heed/kernels/attention/backward.h"
#include "heed/kernels/attention/parts.h"
#include "heed/kernels/attention/program.h"
#include "heed/kernels/attention/stages.h"
#include "heed/kernels/attention/turns.h"

namespace heed::kernels {

/// What all cells of a backward pass share.
template <typename T>
struct BackwardPass {
  const AttentionProgram<T>& program;
  const AttentionBackward<T>& call;
  const PartGrid& grid;
  const StageList<T>& modifiers;
  const StageList<T>& reweights;
  Heads<T> dq = {};  ///< dq of the first part; that of the next is dq_part elements further.
  std::int64_t dq_part = 0;
  /// With several parts: whether a cell wrote the dq of each block.
  std::uint8_t* has_dq = nullptr;
  Heads<T> dk = {}, dv = {};  ///< One for each query head.
  AddGradients add = {};      ///< To dk and dv.
  T* modifier_sums = nullptr;
  T* reweight_sums = nullptr;
  T* sink_sums = nullptr;      ///< One number per cell.
  T* additive_sums = nullptr;  ///< D numbers per cell.
  Turns* turns = nullptr;      ///< Null if no stage needs them.
};

/// Queries in a block of elements of type T.
template <typename T>
std::int64_t backward_block_rows();
template <>
std::int64_t backward_block_rows<float>();
template <>
std::int64_t backward_block_rows<double>();

void backward_cell(const BackwardPass<float>& pass, std::int64_t cell);
void backward_cell(const BackwardPass<double>& pass, std::int64_t cell);

}  // namespace heed::kernels
