// The backward pass of attention, tile by tile: weights are computed once more from the scores and
// the rows' log-sum-exp, so memory grows with n and not with n^2.
#pragma once

#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// dq, dk, dv and the gradients of the stages (which know where theirs go) from that of the output.
void attention_backward(const AttentionProgram<float>& program,
                        const AttentionBackward<float>& call);
/// The same plainly, in double (kernels/reference/attention.h).
void attention_backward(const AttentionProgram<double>& program,
                        const AttentionBackward<double>& call);

}  // namespace heed::kernels
