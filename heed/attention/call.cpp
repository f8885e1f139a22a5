#include "heed/attention/call.h"

#include <type_traits>

#include "heed/base/error.h"
#include "heed/kernels/attention/backward.h"
#include "heed/kernels/attention/forward.h"
#include "heed/kernels/attention/stages.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

using kernels::Heads;

constexpr std::size_t kFirstOfStages = 3;  // behind q, k and v

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

template <typename T>
Heads<const T> heads_of(const Tensor& x, const std::int64_t* starts) {
  return {x.data<T>(), x.strides()[0], x.strides()[1], x.strides()[2], starts};
}

template <typename T>
Heads<T> mutable_heads_of(Tensor& x, const std::int64_t* starts) {
  return {x.mutable_data<T>(), x.strides()[0], x.strides()[1], x.strides()[2], starts};
}

}  // namespace

AttentionCall::AttentionCall(const Tensor& q, const Tensor& k, const Tensor& v,
                             const kernels::AttentionShape& shape, const AttentionSpec& spec)
    : shape_(shape), normaliser_(spec.normalise) {
  if (shape.q_starts != nullptr) {
    lengths_.q_starts.assign(shape.q_starts, shape.q_starts + shape.B + 1);
    lengths_.k_starts.assign(shape.k_starts, shape.k_starts + shape.B + 1);
    shape_.q_starts = lengths_.q_starts.data();
    shape_.k_starts = lengths_.k_starts.data();
  }
  const ScoreOperands operands = spec.score.prepare(q, k);
  shape_.D = operands.q.size(3);
  scale_ = operands.scale;
  inputs_ = {operands.q, operands.k, v};
  q_ = with_whole_rows(operands.q);
  k_ = with_whole_rows(operands.k);
  v_ = with_whole_rows(v);
  if (const Tensor& sinks = normaliser_.sinks(); sinks.defined()) {
    check_parameter(normaliser_.name(), "sinks", sinks, q.dtype());
    HEED_CHECK(sinks.shape() == Shape({shape.H}),
               "[attention] sinks of {} {}: there must be one for each of {} heads",
               normaliser_.name(), to_string(sinks.shape()), shape.H);
    inputs_.push_back(contiguous(sinks));
  }
  for (const Modifier& stage : spec.modify) add_stage(stage, modify_);
  for (const Reweight& stage : spec.reweight) add_stage(stage, reweight_);
  see_ = spec.see.bind(shape_);
}

void AttentionCall::add_stage(const Stage& stage, std::vector<BoundStage>& list) {
  HEED_CHECK(list.size() < kernels::kMaxStages,
             "[attention] more than {} stages in one list: join some of them", kernels::kMaxStages);
  const std::vector<Tensor> tensors = stage.impl()->inputs(shape_, q_.dtype());
  list.push_back({stage.impl(), inputs_.size(), tensors.size()});
  inputs_.insert(inputs_.end(), tensors.begin(), tensors.end());
}

// The stages at work, and the program that lists them. `gradients` is as long as the inputs;
// undefined ones are not wanted.
template <typename T>
class AttentionCall::Program {
 public:
  Program(const AttentionCall& call, std::span<Tensor> gradients) {
    for (const BoundStage& stage : call.modify_) add(call, stage, gradients, modify_);
    for (const BoundStage& stage : call.reweight_) add(call, stage, gradients, reweight_);
    program_.shape = call.shape_;
    program_.scale = static_cast<T>(call.scale_);
    program_.modify = modify_;
    program_.see = call.see_.get();
    program_.normalise = call.normaliser_.kind();
    if (call.normaliser_.sinks().defined()) {
      program_.sinks = call.inputs_[kFirstOfStages].data<T>();
    }
    program_.reweight = reweight_;
  }
  Program(const Program&) = delete;  // the program refers to the lists
  Program& operator=(const Program&) = delete;

  const kernels::AttentionProgram<T>& operator*() const { return program_; }

 private:
  void add(const AttentionCall& call, const BoundStage& stage, std::span<Tensor> gradients,
           std::vector<kernels::TileStage<T>*>& list) {
    const StageBinding to{call.shape_, call.inputs().subspan(stage.first, stage.count),
                          gradients.subspan(stage.first, stage.count)};
    TileStagePtr<T> bound;
    if constexpr (std::is_same_v<T, float>) {
      bound = stage.impl->bind_f32(to);
    } else {
      bound = stage.impl->bind_f64(to);
    }
    if (bound == nullptr) return;
    list.push_back(bound.get());
    owned_.push_back(std::move(bound));
  }

  std::vector<TileStagePtr<T>> owned_;
  std::vector<kernels::TileStage<T>*> modify_, reweight_;
  kernels::AttentionProgram<T> program_;
};

template <typename T>
void AttentionCall::run_forward(Result& result) const {
  std::vector<Tensor> no_gradients(inputs_.size());
  const Program<T> program(*this, no_gradients);
  const std::int64_t* const q_rows = shape_.q_starts;
  kernels::AttentionForward<T> run;
  run.q = heads_of<T>(q_, q_rows);
  run.k = heads_of<T>(k_, shape_.k_starts);
  run.v = heads_of<T>(v_, shape_.k_starts);
  run.output = mutable_heads_of<T>(result.output, q_rows);
  if (result.log_sum_exp.defined())
    run.log_sum_exp = mutable_heads_of<T>(result.log_sum_exp, q_rows);
  kernels::attention_forward(*program, run);
}

AttentionCall::Result AttentionCall::forward(bool log_sum_exp_wanted) const {
  Result result;
  result.output = empty_laid_out_as(q_, shape_.Dv);
  if (log_sum_exp_wanted) {
    result.log_sum_exp = empty({q_.size(0), q_.size(1), q_.size(2)}, q_.dtype());
  }
  visit_float("attention", q_.dtype(), [&](auto zero) { run_forward<decltype(zero)>(result); });
  return result;
}

template <typename T>
void AttentionCall::run_backward(const Result& result, Gradients& gradients) const {
  const Program<T> program(*this, gradients.others);
  const std::int64_t* const q_rows = shape_.q_starts;
  const std::int64_t* const k_rows = shape_.k_starts;
  kernels::AttentionBackward<T> run;
  run.q = heads_of<T>(q_, q_rows);
  run.k = heads_of<T>(k_, k_rows);
  run.v = heads_of<T>(v_, k_rows);
  run.output = heads_of<T>(result.output, q_rows);
  run.d_output = heads_of<T>(gradients.d_output, q_rows);
  if (has_log_sum_exp()) run.log_sum_exp = heads_of<T>(result.log_sum_exp, q_rows);
  if (gradients.d_log_sum_exp.defined()) {
    run.d_log_sum_exp = heads_of<T>(gradients.d_log_sum_exp, q_rows);
  }
  run.dq = mutable_heads_of<T>(gradients.dq, q_rows);
  run.dk = mutable_heads_of<T>(gradients.dk, k_rows);
  run.dv = mutable_heads_of<T>(gradients.dv, k_rows);
  if (normaliser_.sinks().defined() && gradients.others[kFirstOfStages].defined()) {
    run.d_sinks = gradients.others[kFirstOfStages].mutable_data<T>();
  }
  kernels::attention_backward(*program, run);
}

void AttentionCall::backward(Backward& b, const Result& result, bool log_sum_exp_recorded) const {
  Gradients gradients;
  gradients.d_output = with_whole_rows(b.dy(0));
  if (log_sum_exp_recorded && b.arrived(1)) gradients.d_log_sum_exp = contiguous_copy(b.dy(1));
  gradients.dq = empty_laid_out_as(q_, shape_.D);
  gradients.dk = empty_laid_out_as(k_, shape_.D);
  gradients.dv = empty_laid_out_as(v_, shape_.Dv);
  gradients.others.resize(inputs_.size());
  for (std::size_t i = kFirstOfStages; i < inputs_.size(); ++i) {
    if (!b.needs(static_cast<int>(i))) continue;
    gradients.others[i] = zeros(inputs_[i].shape(), inputs_[i].dtype());
  }
  visit_float("attention", q_.dtype(),
              [&](auto zero) { run_backward<decltype(zero)>(result, gradients); });
  b.add(0, std::move(gradients.dq));
  b.add(1, std::move(gradients.dk));
  b.add(2, std::move(gradients.dv));
  for (std::size_t i = kFirstOfStages; i < inputs_.size(); ++i) {
    if (gradients.others[i].defined()) b.add(static_cast<int>(i), std::move(gradients.others[i]));
  }
}

}  // namespace heed
