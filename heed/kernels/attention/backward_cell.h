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
  Heads<float> dq = {};  ///< Of the first part; the next one's is dq_part elements further.
  std::int64_t dq_part = 0;
  std::uint8_t* dq_seen =
      nullptr;  ///< If there are several parts: whether a cell has the dq of each block.
  Heads<float> dk = {}, dv = {};  ///< Of each query head.
  float* modify_sums = nullptr;
  float* reweight_sums = nullptr;
  float* sink_sums = nullptr;      ///< One number per cell.
  float* additive_sums = nullptr;  ///< D numbers per cell.
  Turns* turns = nullptr;          ///< Null if no stage needs them.
};

/// Queries in a block.
std::int64_t backward_block_rows();

void backward_cell(const BackwardPass& pass, std::int64_t cell);

}  // namespace heed::kernels
