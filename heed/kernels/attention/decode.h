// Attention of few queries to many keys, as in the decoding of one token after another. What takes
// time is reading keys and values, so they are read once, in order, for all queries and all query
// heads that share them.
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
  Heads<float> log_sum_exp;  ///< Row r of a head at [r]; data may be null.
};

/// Whether attention_decode computes such a program: not additive scores, nor top_k.
inline bool can_decode(const AttentionProgram<float>& program) {
  return program.additive == nullptr && program.top_k == 0;
}

/// What attention_forward computes, to within rounding, of programs that it can. Keys are taken in
/// parts, and a stage's begin and end are called for each part of which a query sees something: its
/// output is the part's own, and the parts are added up afterwards, when close_part is called.
void attention_decode(const AttentionProgram<float>& program, const DecodeCall<float>& call);
void attention_decode(const AttentionProgram<float>& program, const DecodeCall<BFloat16>& call);

/// Whether attention_decode is the faster way for f32 operands of these sizes.
bool decode_is_better(const AttentionShape& shape);

}  // namespace heed::kernels
