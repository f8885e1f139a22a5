// Data that all blocks of attention's forward pass share.
#pragma once

#include "heed/kernels/attention/program.h"
#include "heed/kernels/attention/stages.h"

namespace heed::kernels {

struct ForwardPass {
  const AttentionProgram<float>& program;
  const AttentionForward<float>& call;
  StageList<float> modifiers;
  StageList<float> reweights;
};

}  // namespace heed::kernels
