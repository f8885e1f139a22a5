// The plain twin of tiled attention (kernels/attention/forward.h and backward.h), in double: one
// head at a time, with all its scores in memory. Hidden keys are left out of every sum. For the
// stages, a head is one block of queries and one tile. Tests compare the tiled kernels with it.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/backward.h"
#include "heed/kernels/attention/program.h"

namespace heed::kernels::reference {

/// Computes the same as the function of that name in kernels/attention/forward.h, but no scales.
void attention_forward(const AttentionProgram<double>& program,
                       const AttentionForward<double>& call);

/// Computes the same as the function of that name in kernels/attention/backward.h; needs neither
/// scales nor the log-sum-exp.
void attention_backward(const AttentionProgram<double>& program,
                        const AttentionBackward<double>& call, AddGradients add = {});

/// The final weights of one head, after every stage: weights[key * Tq + query], 0 for hidden keys.
void attention_weights(const AttentionProgram<double>& program,
                       const AttentionForward<double>& call, std::int64_t batch, std::int64_t head,
                       double* weights);

/// While an object of this class exists, calls of attention in f64 on its thread run on the twin.
/// For tests whose expected values must not come from tiled kernels.
class PlainAttention {
 public:
  PlainAttention() { ++count_; }
  ~PlainAttention() { --count_; }
  PlainAttention(const PlainAttention&) = delete;
  PlainAttention& operator=(const PlainAttention&) = delete;

  static bool wanted() { return count_ > 0; }

 private:
  static thread_local int count_;
};

}  // namespace heed::kernels::reference
