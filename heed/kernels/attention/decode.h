// Attention of few queries to many keys, as in decoding token by token. Reading keys and values
// takes most of the time, so they are read once, in order, for all queries and all query heads that
// share them.
#pragma once

#include "heed/base/dtype.h"
#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// The operands of attention_decode; keys and values are float or BFloat16.
template <typename T>
struct DecodeCall {
  Heads<const float> q;
  Heads<const T> k, v;
  Heads<float> output;
  Heads<float> log_sum_exp;  ///< Element r of a head is that of row r; data may be null.
};

/// Whether attention_decode supports the program: it has no additive scores, no top_k
/// and no entmax.
inline bool can_decode(const AttentionProgram<float>& program) {
  return program.additive == nullptr && program.top_k == 0 &&
         program.normaliser != Normalise::entmax;
}

/// Computes the same as attention_forward, up to rounding, for programs it supports. Keys are
/// processed in parts. A stage's begin and end are called for each part with a visible key and
/// refer to the output of that part; the parts are added up afterwards, when close_part is called.
void attention_decode(const AttentionProgram<float>& program, const DecodeCall<float>& call);
void attention_decode(const AttentionProgram<float>& program, const DecodeCall<BFloat16>& call);

/// Whether attention_decode is faster than attention_forward for f32 operands of these sizes.
bool decode_is_better(const AttentionShape& shape);

}  // namespace heed::kernels
