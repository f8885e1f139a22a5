#include "heed/attention/call.h"

#include <limits>
#include <type_traits>

#include "heed/attention/operands.h"
#include "heed/kernels/attention/decode.h"
#include "heed/kernels/attention/forward.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

using kernels::Heads;

constexpr std::size_t kFirstOfStages = 3;  // after q, k and v

// x itself if its rows are contiguous, else a copy.
Tensor with_whole_rows(const Tensor& x) {
  return x.size(3) == 1 || x.strides()[3] == 1 ? x.detach() : contiguous_copy(x);
}

// [B, heads, T, features], with rows or heads outermost as they are in x.
Tensor empty_laid_out_as(const Tensor& x, std::int64_t features) {
  const std::int64_t B = x.size(0), heads = x.size(1), T = x.size(2);
  if (x.strides()[1] >= x.strides()[2]) return empty({B, heads, T, features}, x.dtype());
  return view::transpose(empty({B, T, heads, features}, x.dtype()), 1, 2);
}

// A Record of each row of q, kept in a tensor as bytes.
template <typename Record>
Tensor empty_records(const Tensor& q) {
  return empty({q.size(0), q.size(1), q.size(2), sizeof(Record)}, DType::u8);
}
template <typename Record>
Record* records_in(const Tensor& x) {
  return reinterpret_cast<Record*>(Tensor(x).mutable_data<std::uint8_t>());
}
template <typename Record>
Heads<Record> records_of(const Tensor& x, const std::int64_t* starts) {
  if (!x.defined()) return {};
  return {records_in<std::remove_const_t<Record>>(x), x.size(1) * x.size(2), x.size(2), 1, starts};
}

// Whether a score has left an operand as it was.
bool same_memory(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.data<float>() == b.data<float>();
}

// bf16 is stored as f32; its products may be computed in bf16.
Tensor computable(const Tensor& x) { return x.dtype() == DType::bf16 ? cast(x, DType::f32) : x; }

}  // namespace

std::shared_ptr<const AttentionCall> AttentionCall::make(const Tensor& q, const Tensor& k,
                                                         const Tensor& v,
                                                         const kernels::AttentionShape& shape,
                                                         const AttentionSpec& spec) {
  return std::allocate_shared<const AttentionCall>(ArenaAllocator<AttentionCall>(), computable(q),
                                                   computable(k), computable(v), shape, spec,
                                                   q.dtype() == DType::bf16);
}

AttentionCall::AttentionCall(const Tensor& q, const Tensor& k, const Tensor& v,
                             const kernels::AttentionShape& shape, const AttentionSpec& spec,
                             bool bf16) {
  kernels::AttentionShape sizes = shape;
  if (shape.q_starts != nullptr) {
    q_starts_.assign(shape.q_starts, shape.q_starts + shape.B + 1);
    k_starts_.assign(shape.k_starts, shape.k_starts + shape.B + 1);
    sizes.q_starts = q_starts_.data();
    sizes.k_starts = k_starts_.data();
  }
  ScoreOperands operands = spec.score.prepare(q, k);
  operands.bf16 = bf16 && same_memory(operands.q, q) && same_memory(operands.k, k);
  sizes.D = operands.q.size(3);
  inputs_ = {operands.q, operands.k, v};
  q_ = with_whole_rows(operands.q);
  k_ = with_whole_rows(operands.k);
  v_ = with_whole_rows(v);
  spec_.emplace(spec, sizes, operands, q.dtype(), inputs_);
}

template <typename T>
void AttentionCall::run_forward(Result& result, const Observations& observations) const {
  const OwnedProgram<T> program(*spec_, inputs_, observations);
  const std::int64_t* const q_rows = shape().q_starts;
  kernels::AttentionForward<T> run;
  run.q = heads_of<T>(q_, q_rows);
  run.k = heads_of<T>(k_, shape().k_starts);
  run.v = heads_of<T>(v_, shape().k_starts);
  run.output = mutable_heads_of<T>(result.output, q_rows);
  if (result.log_sum_exp.defined())
    run.log_sum_exp = mutable_heads_of<T>(result.log_sum_exp, q_rows);
  run.cuts = records_of<kernels::RowCut<T>>(result.cuts, q_rows);
  if constexpr (std::is_same_v<T, float>) {
    // Not for packed sequences: there the choice of kernel would depend on the other sequences.
    if (q_rows == nullptr && kernels::decode_is_better(shape()) && kernels::can_decode(*program)) {
      const kernels::DecodeCall<float> few{run.q, run.k, run.v, run.output, run.log_sum_exp};
      result.scales = Tensor();
      return kernels::attention_decode(*program, few);
    }
  }
  run.scales = records_of<kernels::RowScale<T>>(result.scales, q_rows);
  kernels::attention_forward(*program, run);
}

AttentionCall::Result AttentionCall::forward(Wanted wanted, const Tensor& output) const {
  Result result;
  result.output = output.defined() ? output : empty_laid_out_as(q_, shape().Dv);
  if (wanted.log_sum_exp || spec_->shows_log_sum_exp()) {
    result.log_sum_exp = empty({q_.size(0), q_.size(1), q_.size(2)}, q_.dtype());
  }
  spec_->add_flops(1, 1);  // Q K^T and P V
  const Observations observations = spec_->start_observers();
  visit_float("attention", q_.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (spec_->top_k() > 0) result.cuts = empty_records<kernels::RowCut<T>>(q_);
    if (wanted.scales) result.scales = empty_records<kernels::RowScale<T>>(q_);
    run_forward<T>(result, observations);
  });
  for (const auto& observation : observations) observation->finish(result.log_sum_exp);
  return result;
}

AttentionCall::Result AttentionCall::run(const std::shared_ptr<const AttentionCall>& call,
                                         bool log_sum_exp_wanted) {
  const bool learns = detail::wants_tape(call->inputs());
  const Result result =
      call->forward({.log_sum_exp = log_sum_exp_wanted || (learns && call->keeps_log_sum_exp()),
                     .scales = learns && call->spec_->keeps_scales()});
  Result visible = result;
  if (log_sum_exp_wanted) {
    record_all("attention", call->inputs(), {&visible.output, &visible.log_sum_exp},
               [call, result](Backward& b) { call->backward(b, result, true); });
  } else {
    visible.output = record("attention", call->inputs(), result.output,
                            [call, result](Backward& b) { call->backward(b, result, false); });
    visible.log_sum_exp = Tensor();
  }
  return visible;
}

Tensor AttentionCall::last_keys(const Result& result) const {
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
  Tensor keys = empty({q_.size(0), q_.size(1), q_.size(2)}, DType::i64);
  visit_float("attention", q_.dtype(), [&](auto zero) {
    const auto* const cuts = records_in<kernels::RowCut<decltype(zero)>>(result.cuts);
    std::int64_t* const to = keys.mutable_data<std::int64_t>();
    for (std::int64_t i = 0; i < keys.numel(); ++i) {
      to[i] = cuts[i].key == kNone ? -1 : cuts[i].key;
    }
  });
  return keys;
}

template <typename T>
void AttentionCall::run_backward(const Result& result, Gradients& gradients) const {
  const OwnedProgram<T> program(*spec_, inputs_, std::span(gradients.others));
  const std::int64_t* const q_rows = shape().q_starts;
  const std::int64_t* const k_rows = shape().k_starts;
  kernels::AttentionBackward<T> run;
  run.q = heads_of<T>(q_, q_rows);
  run.k = heads_of<T>(k_, k_rows);
  run.v = heads_of<T>(v_, k_rows);
  if (result.output.defined()) run.output = heads_of<T>(result.output, q_rows);
  run.d_output = heads_of<T>(gradients.d_output, q_rows);
  if (keeps_log_sum_exp()) run.log_sum_exp = heads_of<T>(result.log_sum_exp, q_rows);
  if (gradients.d_log_sum_exp.defined()) {
    run.d_log_sum_exp = heads_of<T>(gradients.d_log_sum_exp, q_rows);
  }
  run.cuts = records_of<const kernels::RowCut<T>>(result.cuts, q_rows);
  run.scales = records_of<const kernels::RowScale<T>>(result.scales, q_rows);
  run.dq = mutable_heads_of<T>(gradients.dq, q_rows);
  run.dk = mutable_heads_of<T>(gradients.dk, k_rows);
  run.dv = mutable_heads_of<T>(gradients.dv, k_rows);
  const auto gradient_at = [&](std::size_t i) {
    Tensor& gradient = gradients.others[i];
    return gradient.defined() ? gradient.mutable_data<T>() : nullptr;
  };
  if (spec_->has_sinks()) run.d_sinks = gradient_at(spec_->sinks_at());
  if (spec_->is_additive()) run.d_additive = gradient_at(spec_->additive_at());
  kernels::attention_backward(*program, run, gradients.add);
}

// A decoder that goes step by step attends to the same keys and values at every step: their
// gradients are added up where they are, unless they are one gradient.
bool AttentionCall::adds_in_place(const Backward& b) const {
  const auto same = [](const Tensor& x, const Tensor& y) {
    return x.node() == y.node() && x.output_index() == y.output_index();
  };
  const bool apart = !same(inputs_[1], inputs_[2]) && !same(inputs_[0], inputs_[1]) &&
                     !same(inputs_[0], inputs_[2]);
  return kernels::decode_is_better(shape()) && b.needs(1) && b.needs(2) && apart;
}

void AttentionCall::set_gradients(const Result& result, Gradients& gradients) const {
  spec_->add_flops(3, 2);  // Q K^T again, dS K, dS^T Q; dO V^T, P^T dO
  gradients.dq = empty_laid_out_as(q_, shape().D);
  if (!gradients.dk.defined()) gradients.dk = empty_laid_out_as(k_, shape().D);
  if (!gradients.dv.defined()) gradients.dv = empty_laid_out_as(v_, shape().Dv);
  gradients.others.resize(inputs_.size());
  visit_float("attention", q_.dtype(),
              [&](auto zero) { run_backward<decltype(zero)>(result, gradients); });
}

void AttentionCall::backward(Backward& b, const Result& result, bool log_sum_exp_recorded) const {
  Gradients gradients;
  gradients.d_output = with_whole_rows(b.dy(0));
  if (log_sum_exp_recorded && b.arrived(1)) gradients.d_log_sum_exp = contiguous_copy(b.dy(1));
  const bool in_place = adds_in_place(b);
  if (in_place) {
    const Backward::Target dk = b.into(1), dv = b.into(2);
    gradients.dk = dk.grad;
    gradients.dv = dv.grad;
    gradients.add = {.dk = !dk.fresh, .dv = !dv.fresh};
  }
  gradients.others.resize(inputs_.size());
  for (std::size_t i = kFirstOfStages; i < inputs_.size(); ++i) {
    if (!b.needs(static_cast<int>(i))) continue;
    gradients.others[i] = zeros(inputs_[i].shape(), inputs_[i].dtype());
  }
  set_gradients(result, gradients);
  b.add(0, std::move(gradients.dq));
  if (!in_place) {
    b.add(1, std::move(gradients.dk));
    b.add(2, std::move(gradients.dv));
  }
  for (std::size_t i = kFirstOfStages; i < inputs_.size(); ++i) {
    if (gradients.others[i].defined()) b.add(static_cast<int>(i), std::move(gradients.others[i]));
  }
}

}  // namespace heed
