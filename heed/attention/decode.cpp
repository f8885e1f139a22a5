#include "heed/attention/decode.h"

#include "heed/attention/attention.h"
#include "heed/attention/operands.h"
#include "heed/attention/program.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/kernels/attention/decode.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::AttentionShape;

AttentionShape check_shape(const Tensor& q, const Tensor& k, const Tensor& v) {
  HEED_CHECK(q.defined() && (q.dtype() == DType::f32 || q.dtype() == DType::f64),
             "[attention_decode] q is {}: queries must be f32 or f64, whatever the cache holds",
             q.defined() ? name_of(q.dtype()) : "undefined");
  HEED_CHECK(q.rank() == 4, "[attention_decode] q {}: it must be [B, H, Tq, D]",
             to_string(q.shape()));
  HEED_CHECK(q.size(0) == k.size(0),
             "[attention_decode] q {} has {} sequences, the cache {}: B must agree",
             to_string(q.shape()), q.size(0), k.size(0));
  HEED_CHECK(q.size(1) >= 1 && q.size(1) % k.size(1) == 0,
             "[attention_decode] q {} has {} heads, the cache {}: H must be a multiple of G",
             to_string(q.shape()), q.size(1), k.size(1));
  return {.B = q.size(0),
          .H = q.size(1),
          .G = k.size(1),
          .Tq = q.size(2),
          .Tk = k.size(2),
          .D = k.size(3),
          .Dv = v.size(3)};
}

// Few queries against keys and values in bf16, which are not converted. Undefined if this kernel
// does not support the program, or if the score is not a dot product of the keys, which is tested
// on an empty cache.
Tensor decode_bf16(const Tensor& q, const KvCache& cache, AttentionShape shape,
                   const AttentionSpec& spec) {
  const Tensor none = empty({shape.B, shape.G, 0, shape.D});
  const ScoreOperands operands = spec.score.prepare(q, none);
  if (operands.k.storage() != none.storage()) return {};
  const Tensor queries = contiguous_copy(operands.q);  // [B, H, Tq, D]
  shape.D = queries.size(3);
  TensorList inputs;
  const ProgramMaker prepared(spec, shape, operands, DType::f32, inputs);
  const Observations observations = prepared.start_observers();
  const OwnedProgram<float> program(prepared, inputs, observations);
  if (!kernels::can_decode(*program)) return {};
  prepared.add_flops(1, 1);  // Q K^T and P V

  Tensor output = empty({shape.B, shape.H, shape.Tq, shape.Dv});  // [B, H, Tq, Dv]
  Tensor log_sum_exp;
  kernels::DecodeCall<BFloat16> call;
  call.q = heads_of<float>(queries);
  call.k = heads_of<BFloat16>(cache.keys());
  call.v = heads_of<BFloat16>(cache.values());
  call.output = mutable_heads_of<float>(output);
  if (prepared.shows_log_sum_exp()) {
    log_sum_exp = empty({shape.B, shape.H, shape.Tq});  // [B, H, Tq]
    call.log_sum_exp = mutable_heads_of<float>(log_sum_exp);
  }
  kernels::attention_decode(*program, call);
  for (const auto& observation : observations) observation->finish(log_sum_exp);
  return output;
}

}  // namespace

Tensor attention_decode(const Tensor& q, const KvCache& cache, const AttentionSpec& spec) {
  const NoGrad no_grad;
  const Tensor k = cache.keys(), v = cache.values();  // [B, G, Tk, D], [B, G, Tk, Dv]
  const AttentionShape shape = check_shape(q, k, v);
  if (k.dtype() == DType::bf16 && q.dtype() == DType::f32 && kernels::decode_is_better(shape)) {
    if (const Tensor output = decode_bf16(q, cache, shape, spec); output.defined()) return output;
  }
  return attention(q, cast_data(k, q.dtype()), cast_data(v, q.dtype()), spec);
}

}  // namespace heed
