// The plain twin of tiled attention (kernels/attention/forward.h and backward.h) and its
// implementation for double: one head at a time, with all its scores in memory. Hidden keys are
// left out of every sum. For the stages, a head is one block of queries and one tile.
#pragma once

#include "heed/kernels/attention/backward.h"
#include "heed/kernels/attention/forward.h"

namespace heed::kernels::reference {

/// The final weights of one head, after every stage: weights[key * Tq + query], 0 for hidden keys.
void attention_weights(const AttentionProgram<double>& program,
                       const AttentionForward<double>& call, std::int64_t batch, std::int64_t head,
                       double* weights);

}  // namespace heed::kernels::reference
