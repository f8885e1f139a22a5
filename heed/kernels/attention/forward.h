// The forward pass of attention, tile by tile: the n x n matrix of weights is never stored.
#pragma once

#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// output = weights * values, and the logarithm of each row's sum of e^score. A row that sees
/// nothing has output 0 and log-sum-exp -inf.
void attention_forward(const AttentionProgram<float>& program, const AttentionForward<float>& call);
/// The same plainly, in double (kernels/reference/attention.h).
void attention_forward(const AttentionProgram<double>& program,
                       const AttentionForward<double>& call);

}  // namespace heed::kernels
