#include "heed/attention/attention.h"

#include <memory>

#include "heed/attention/call.h"
#include "heed/attention/operands.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

// What bf16 is computed in.
Tensor computable(const Tensor& x) { return x.dtype() == DType::bf16 ? cast(x, DType::f32) : x; }

// q [B, H, Tq, D] and k, v likewise; the result's log-sum-exp is undefined unless wanted.
AttentionResult run(const Tensor& q, const Tensor& k, const Tensor& v,
                    const kernels::AttentionShape& shape, const AttentionSpec& spec, bool wanted) {
  const auto call = std::make_shared<const AttentionCall>(computable(q), computable(k),
                                                          computable(v), shape, spec);
  HEED_CHECK(!wanted || call->has_log_sum_exp(),
             "[attention] the log-sum-exp of {}: only softmax has one", spec.normalise.name());
  const bool recorded = detail::wants_tape(call->inputs());
  const AttentionCall::Result result =
      call->forward(wanted || (recorded && call->has_log_sum_exp()));
  Tensor output = result.output;
  if (!wanted) {
    output = record("attention", call->inputs(), output,
                    [call, result](Backward& b) { call->backward(b, result, false); });
    return {cast(output, q.dtype()), Tensor()};
  }
  Tensor log_sum_exp = result.log_sum_exp;
  record_all("attention", call->inputs(), {&output, &log_sum_exp},
             [call, result](Backward& b) { call->backward(b, result, true); });
  return {cast(output, q.dtype()), log_sum_exp};
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
