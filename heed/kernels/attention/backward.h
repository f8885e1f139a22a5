// The backward pass of attention, tile by tile: weights are recomputed from the scores and the
// log-sum-exp of each row, so memory grows with n and not with n^2.
#pragma once

#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// Gradients that are added to what is there, instead of overwriting it.
struct AddGradients {
  bool dk = false, dv = false;
};

/// Computes dq, dk, dv and the gradients of the stages from the gradient of the output. Stages hold
/// the pointers to their own gradients.
void attention_backward(const AttentionProgram<float>& program,
                        const AttentionBackward<float>& call, AddGradients add = {});
void attention_backward(const AttentionProgram<double>& program,
                        const AttentionBackward<double>& call, AddGradients add = {});

}  // namespace heed::kernels
