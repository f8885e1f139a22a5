// Attention: output = weights v, weights = normalise(modify(score(q, k))) over the keys that a
// query may attend to. Computed tile by tile, forward and backward, with any composition of stages:
//
//   attention(q, k, v, {.modifiers = {alibi(slopes)}, .mask = causal() & key_lengths({5, 9})});
//
// A query without visible keys has output 0, log-sum-exp -inf and no gradient. Hidden keys have no
// effect, even if they are NaN. The bits of a result depend only on inputs and seeds: not on the
// number of threads, nor on the other sequences in the batch.
#pragma once

#include "heed/attention/spec.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// q [B, H, Tq, D], k [B, G, Tk, D], v [B, G, Tk, Dv] -> [B, H, Tq, Dv], laid out in memory as q
/// is. H is a multiple of G: query head h reads key and value head h / (H / G). f32, f64 or bf16;
/// any strides, read in place if the last axis is contiguous. Few queries, up to 8 in f32, use the
/// decoding kernel (kernels/attention/decode.h).
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionSpec& spec = {});

/// The same written into `out`, [B, H, Tq, Dv] of q's dtype with any strides that keep elements
/// apart; it must not share memory with q, k and v. Nothing is recorded for gradients.
void attention_into(Tensor& out, const Tensor& q, const Tensor& k, const Tensor& v,
                    const AttentionSpec& spec = {});

/// The output, and the logarithm of each row's sum of e^score [B, H, Tq]; both differentiable.
struct AttentionResult {
  Tensor output;
  Tensor log_sum_exp;
};

/// The same with the rows' log-sum-exp (f32 for bf16); the normaliser must be softmax.
AttentionResult attention_with_log_sum_exp(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const AttentionSpec& spec = {});

/// Sequences of different lengths, one after another: q [total, H, D], k [total, G, D], v [total,
/// G, Dv] -> [total, H, Dv]. Stages count positions from the start of each sequence; their sizes B,
/// Tq and Tk are the number of sequences and the longest of them.
Tensor attention_packed(const Tensor& q, const Tensor& k, const Tensor& v,
                        const PackedLengths& lengths, const AttentionSpec& spec = {});

/// The same with the rows' log-sum-exp [total, H].
AttentionResult attention_packed_with_log_sum_exp(const Tensor& q, const Tensor& k, const Tensor& v,
                                                  const PackedLengths& lengths,
                                                  const AttentionSpec& spec = {});

}  // namespace heed
