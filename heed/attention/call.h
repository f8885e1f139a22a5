// One call of attention, checked and prepared: what forward and backward both work from.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "heed/attention/program.h"
#include "heed/attention/spec.h"
#include "heed/autograd/tape.h"
#include "heed/base/arena_vector.h"
#include "heed/kernels/attention/program.h"
#include "heed/tensor/tensor.h"

namespace heed {

class AttentionCall {
 public:
  /// For any q, k and v that check_operands accepted, computed in f32 if they are bf16.
  static std::shared_ptr<const AttentionCall> make(const Tensor& q, const Tensor& k,
                                                   const Tensor& v,
                                                   const kernels::AttentionShape& shape,
                                                   const AttentionSpec& spec);
  /// q, k and v as check_operands accepted them, f32 or f64. Packed ones are [1, heads, total,
  /// features], and the shape says where sequences start.
  AttentionCall(const Tensor& q, const Tensor& k, const Tensor& v,
                const kernels::AttentionShape& shape, const AttentionSpec& spec);
  AttentionCall(const AttentionCall&) = delete;  // the shape refers to the starts
  AttentionCall& operator=(const AttentionCall&) = delete;

  /// Where gradients go: q, k, v and the tensors of the stages.
  std::span<const Tensor> inputs() const { return inputs_; }
  bool has_log_sum_exp() const { return spec_->has_log_sum_exp(); }
  /// Whether backward wants forward's.
  bool keeps_log_sum_exp() const { return spec_->keeps_log_sum_exp(); }

  struct Result {
    Tensor output;       ///< [B, H, Tq, Dv]
    Tensor log_sum_exp;  ///< [B, H, Tq], or undefined
    Tensor cuts;         ///< [B, H, Tq, bytes of a RowCut] in u8 if there is a top_k, or undefined
    Tensor scales;       ///< [B, H, Tq, bytes of a RowScale] likewise, for backward after tiles
  };
  /// What the result must hold besides the output.
  struct Wanted {
    bool log_sum_exp = false;
    bool scales = false;
  };
  /// The output goes into one that is given, of its shape and dtype with contiguous rows.
  Result forward(Wanted wanted, const Tensor& output = {}) const;
  /// The same, recorded on the tape if somebody wants a gradient.
  static Result run(const std::shared_ptr<const AttentionCall>& call, bool log_sum_exp_wanted);
  /// Of a result with top_k: the last key that each row sees [B, H, Tq], -1 if it sees fewer.
  Tensor last_keys(const Result& result) const;

  /// Sends the gradients on that arrived for forward's result: output 0, and output 1 if the
  /// log-sum-exp was recorded too.
  void backward(Backward& b, const Result& result, bool log_sum_exp_recorded) const;

 private:
  struct Gradients {
    Tensor d_output, d_log_sum_exp;  // the latter may be undefined
    Tensor dq, dk, dv;
    TensorList others;  // as long as the inputs; undefined where nobody wants one
  };

  template <typename T>
  void run_forward(Result& result, const Observations& observations) const;
  template <typename T>
  void run_backward(const Result& result, Gradients& gradients) const;
  const kernels::AttentionShape& shape() const { return spec_->shape(); }

  ArenaVector<std::int64_t> q_starts_, k_starts_;
  TensorList inputs_;
  Tensor q_, k_, v_;                  // the first inputs, with rows that can be read in place
  std::optional<ProgramMaker> spec_;  // once the starts and the score's operands are known
};

}  // namespace heed
