// Data that all blocks of attention's forward pass share.
#pragma once

#include "heed/kernels/attention/bf16_pairs.h"
#include "heed/kernels/attention/program.h"
#include "heed/kernels/attention/stages.h"

namespace heed::kernels {

template <typename T>
struct ForwardPass {
  const AttentionProgram<T>& program;
  const AttentionForward<T>& call;
  StageList<T> modifiers;
  StageList<T> reweights;
  PairedOperands pairs = {};  ///< For passes in bf16.
};

}  // namespace heed::kernels
