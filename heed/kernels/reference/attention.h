// The plain twin of tiled attention (kernels/attention/forward.h and backward.h), which it defines
// for double: one head at a time, with all its scores in memory, and what is hidden left out of
// every sum. Stages see a head as one block of queries and one tile.
#pragma once

#include "heed/kernels/attention/backward.h"
#include "heed/kernels/attention/forward.h"

namespace heed::kernels::reference {

/// The weights of one head as values are read with them, after every stage: weights[key * Tq +
/// query], 0 where hidden.
void attention_weights(const AttentionProgram<double>& program,
                       const AttentionForward<double>& call, std::int64_t batch, std::int64_t head,
                       double* weights);

}  // namespace heed::kernels::reference
