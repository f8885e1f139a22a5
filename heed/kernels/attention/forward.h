// The forward pass of attention, tile by tile: the n x n matrix of weights is never stored.
#pragma once

#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// output = weights * values, and the log-sum-exp of the scores of each row. A row without visible
/// keys has output 0 and log-sum-exp -inf.
void attention_forward(const AttentionProgram<float>& program, const AttentionForward<float>& call);
void attention_forward(const AttentionProgram<double>& program,
                       const AttentionForward<double>& call);

}  // namespace heed::kernels
