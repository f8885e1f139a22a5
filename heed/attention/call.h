// One call of attention, checked and prepared: what forward and backward both work from.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heed/attention/spec.h"
#include "heed/autograd/tape.h"
#include "heed/kernels/attention/program.h"
#include "heed/tensor/tensor.h"

namespace heed {

class AttentionCall {
 public:
  /// q, k and v as check_operands accepted them, f32 or f64. Packed ones are [1, heads, total,
  /// features], and the shape says where sequences start.
  AttentionCall(const Tensor& q, const Tensor& k, const Tensor& v,
                const kernels::AttentionShape& shape, const AttentionSpec& spec);
  AttentionCall(const AttentionCall&) = delete;  // the shape refers to lengths_
  AttentionCall& operator=(const AttentionCall&) = delete;

  /// Where gradients go: q, k, v, the sinks if any, and the tensors of the stages.
  std::span<const Tensor> inputs() const { return inputs_; }
  bool has_log_sum_exp() const { return normaliser_.has_log_sum_exp(); }

  struct Result {
    Tensor output;       ///< [B, H, Tq, Dv]
    Tensor log_sum_exp;  ///< [B, H, Tq], or undefined
  };
  Result forward(bool log_sum_exp_wanted) const;

  /// Sends the gradients on that arrived for forward's result: output 0, and output 1 if the
  /// log-sum-exp was recorded too.
  void backward(Backward& b, const Result& result, bool log_sum_exp_recorded) const;

 private:
  struct BoundStage {
    std::shared_ptr<const StageImpl> impl;
    std::size_t first, count;  // of its tensors in inputs_
  };
  struct Gradients {
    Tensor d_output, d_log_sum_exp;  // the latter may be undefined
    Tensor dq, dk, dv;
    std::vector<Tensor> others;  // as long as the inputs; undefined where nobody wants one
  };
  template <typename T>
  class Program;

  void add_stage(const Stage& stage, std::vector<BoundStage>& list);
  template <typename T>
  void run_forward(Result& result) const;
  template <typename T>
  void run_backward(const Result& result, Gradients& gradients) const;

  PackedLengths lengths_;
  kernels::AttentionShape shape_;
  double scale_ = 1.0;
  Normaliser normaliser_;
  std::vector<Tensor> inputs_;
  Tensor q_, k_, v_;  // the first inputs with rows that can be read in place
  std::vector<BoundStage> modify_, reweight_;
  std::unique_ptr<kernels::Visibility> see_;
};

}  // namespace heed
