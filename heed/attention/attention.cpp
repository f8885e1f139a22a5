#include "heed/attention/attention.h"

#include "heed/attention/call.h"
#include "heed/attention/operands.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

// q [B, H, Tq, D] and k, v likewise; the result's log-sum-exp is undefined unless wanted.
AttentionResult run(const Tensor& q, const Tensor& k, const Tensor& v,
                    const kernels::AttentionShape& shape, const AttentionSpec& spec, bool wanted) {
  const auto call = AttentionCall::make(q, k, v, shape, spec);
  HEED_CHECK(!wanted || call->has_log_sum_exp(),
             "[attention] the log-sum-exp of {}: only softmax has one", spec.normaliser.name());
  const AttentionCall::Result result = AttentionCall::run(call, wanted);
  return {cast(result.output, q.dtype()), result.log_sum_exp};
}

// [total, heads, features] as [1, heads, total, features].
Tensor as_one_batch(const Tensor& x) { return unsqueeze(transpose(x, 0, 1), 0); }

AttentionResult run_packed(const Tensor& q, const Tensor& k, const Tensor& v,
                           const PackedLengths& lengths, const AttentionSpec& spec, bool wanted) {
  const kernels::AttentionShape shape = check_packed_operands(q, k, v, lengths);
  AttentionResult result =
      run(as_one_batch(q), as_one_batch(k), as_one_batch(v), shape, spec, wanted);
  result.output = transpose(squeeze(result.output, 0), 0, 1);                  // [total, H, Dv]
  if (wanted) result.log_sum_exp = transpose(squeeze(result.log_sum_exp, 0));  // [total, H]
  return result;
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionSpec& spec) {
  return run(q, k, v, check_operands(q, k, v), spec, false).output;
}

void attention_into(Tensor& out, const Tensor& q, const Tensor& k, const Tensor& v,
                    const AttentionSpec& spec) {
  const NoGrad no_grad;
  const kernels::AttentionShape shape = check_operands(q, k, v);
  const Shape wanted{shape.B, shape.H, shape.Tq, shape.Dv};
  HEED_CHECK(out.defined() && out.shape() == wanted && out.dtype() == q.dtype(),
             "[attention] out is {} {}: the result is {} {}",
             out.defined() ? name_of(out.dtype()) : "undefined", to_string(out.shape()),
             name_of(q.dtype()), to_string(wanted));
  const auto call = AttentionCall::make(q, k, v, shape, spec);
  const bool rows_whole = shape.Dv <= 1 || out.strides()[3] == 1;
  if (rows_whole && q.dtype() != DType::bf16) {
    call->forward({}, out);
  } else {
    copy_into(out, cast(call->forward({}).output, q.dtype()));
  }
}

AttentionResult attention_with_log_sum_exp(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const AttentionSpec& spec) {
  return run(q, k, v, check_operands(q, k, v), spec, true);
}

Tensor attention_packed(const Tensor& q, const Tensor& k, const Tensor& v,
                        const PackedLengths& lengths, const AttentionSpec& spec) {
  return run_packed(q, k, v, lengths, spec, false).output;
}

AttentionResult attention_packed_with_log_sum_exp(const Tensor& q, const Tensor& k, const Tensor& v,
                                                  const PackedLengths& lengths,
                                                  const AttentionSpec& spec) {
  return run_packed(q, k, v, lengths, spec, true);
}

}  // namespace heed
