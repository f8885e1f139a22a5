// One cell of attention's backward pass: a query head against a range of keys (parts.h).
#pragma once

#include <cstdint>

#include "heed/kernels/attention/parts.h"
#include "heed/kernels/attention/program.h"
#include "heed/kernels/attention/stages.h"
#include "heed/kernels/attention/turns.h"

namespace heed::kernels {

/// What all cells of a backward pass share.
struct BackwardPass {
  const AttentionProgram<float>& program;
  const AttentionBackward<float>& call;
  const PartGrid& grid;
  const StageList<float>& modifiers;
  const StageList<float>& reweights;
  Heads<float> dq = {};  ///< dq of the first part; that of the next is dq_part elements further.
  std::int64_t dq_part = 0;
  /// With several parts: whether a cell wrote the dq of each block.
  std::uint8_t* has_dq = nullptr;
  Heads<float> dk = {}, dv = {};  ///< One for each query head.
  float* modifier_sums = nullptr;
  float* reweight_sums = nullptr;
  float* sink_sums = nullptr;      ///< One number per cell.
  float* additive_sums = nullptr;  ///< D numbers per cell.
  Turns* turns = nullptr;          ///< Null if no stage needs them.
};

/// Queries in a block.
std::int64_t backward_block_rows();

void backward_cell(const BackwardPass& pass, std::int64_t cell);

}  // namespace heed::kernels
