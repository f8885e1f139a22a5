// One call of attention, checked and prepared: the common base of forward and backward.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "heed/attention/program.h"
#include "heed/attention/spec.h"
#include "heed/autograd/tape.h"
#include "heed/base/arena_vector.h"
#include "heed/kernels/attention/backward.h"
#include "heed/tensor/tensor.h"

namespace heed {

class AttentionCall {
 public:
  /// For any q, k and v that check_operands accepted, computed in f32 if they are bf16.
  static std::shared_ptr<const AttentionCall> make(const Tensor& q, const Tensor& k,
                                                   const Tensor& v,
                                                   const kernels::AttentionShape& shape,
                                                   const AttentionSpec& spec);
  /// q, k and v as check_operands accepted them, f32 or f64; with `bf16`, f32 tensors that hold
  /// bf16 numbers. Packed ones are [1, heads, total, features], and the shape says where sequences
  /// start.
  AttentionCall(const Tensor& q, const Tensor& k, const Tensor& v,
                const kernels::AttentionShape& shape, const AttentionSpec& spec, bool bf16 = false);
  AttentionCall(const AttentionCall&) = delete;  // the shape refers to the starts
  AttentionCall& operator=(const AttentionCall&) = delete;

  /// The tensors that gradients go to: q, k, v and the tensors of the stages.
  std::span<const Tensor> inputs() const { return inputs_; }
  bool has_log_sum_exp() const { return spec_->has_log_sum_exp(); }
  /// Whether backward needs the log-sum-exp of forward.
  bool keeps_log_sum_exp() const { return spec_->keeps_log_sum_exp(); }

  struct Result {
    Tensor output;       ///< [B, H, Tq, Dv]
    Tensor log_sum_exp;  ///< [B, H, Tq], or undefined
    Tensor cuts;         ///< [B, H, Tq, bytes of a RowCut] in u8 if there is a top_k, or undefined
    Tensor scales;       ///< [B, H, Tq, bytes of a RowScale] likewise, for backward after tiles
  };
  /// The parts of the result that are wanted besides the output.
  struct Wanted {
    bool log_sum_exp = false;
    bool scales = false;
  };
  /// If `output` is defined, the output is written into it; it needs the right shape and dtype, and
  /// contiguous rows.
  Result forward(Wanted wanted, const Tensor& output = {}) const;
  /// The same, recorded on the tape if a gradient is needed.
  static Result run(const std::shared_ptr<const AttentionCall>& call, bool log_sum_exp_wanted);
  /// For a result with top_k: the last key that each row attends to [B, H, Tq], -1 if fewer than k
  /// are visible.
  Tensor last_keys(const Result& result) const;

  /// Propagates the gradients of forward's result: output 0, and output 1 if the log-sum-exp was
  /// recorded too.
  void backward(Backward& b, const Result& result, bool log_sum_exp_recorded) const;

  /// Gradients of results, and those of the inputs that follow from them.
  struct Gradients {
    Tensor d_output, d_log_sum_exp;  ///< The latter may be undefined.
    Tensor dq, dk, dv;
    kernels::AddGradients add;  ///< dk and dv are what other calls have given so far.
    TensorList others;          ///< As long as the inputs; undefined where no gradient is wanted.
  };
  /// Sets dq, dk and dv, the last two in place if they are defined, for an op that contains this
  /// call. The stages must not learn. If the result has no output, d_log_sum_exp contains
  /// -sum(d_output * output) of each row.
  void set_gradients(const Result& result, Gradients& gradients) const;

 private:
  template <typename T>
  void run_forward(Result& result, const Observations& observations) const;
  template <typename T>
  void run_backward(const Result& result, Gradients& gradients) const;
  bool adds_in_place(const Backward& b) const;
  const kernels::AttentionShape& shape() const { return spec_->shape(); }

  ArenaVector<std::int64_t> q_starts_, k_starts_;
  TensorList inputs_;
  Tensor q_, k_, v_;                  // the first inputs, with rows that can be read in place
  std::optional<ProgramMaker> spec_;  // once the starts and the score's operands are known
};

}  // namespace heed
