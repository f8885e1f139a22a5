// From a spec to the program that kernels run: ProgramMaker checks the spec against the sizes of
// one call, OwnedProgram holds its stages in one precision.
#pragma once

#include <memory>
#include <span>

#include "heed/attention/spec.h"
#include "heed/base/arena_vector.h"
#include "heed/kernels/attention/program.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// A spec, checked against the sizes of one call, and the tensors that its stages read.
class ProgramMaker {
 public:
  /// Appends those tensors to `inputs`, which an OwnedProgram needs too. The starts of `shape` must
  /// outlive this.
  ProgramMaker(const AttentionSpec& spec, const kernels::AttentionShape& shape,
               const ScoreOperands& score, DType dtype, TensorList& inputs);

  const kernels::AttentionShape& shape() const { return shape_; }
  bool has_log_sum_exp() const { return normaliser_.has_log_sum_exp(); }
  /// Whether the backward pass uses it.
  bool keeps_log_sum_exp() const { return normaliser_.kind() == kernels::Normalise::softmax; }
  /// Whether the backward pass uses the scales of rows.
  bool keeps_scales() const {
    return keeps_log_sum_exp() || normaliser_.kind() == kernels::Normalise::entmax;
  }
  /// Whether an observer needs the log-sum-exp.
  bool shows_log_sum_exp() const;
  /// Counts the operations of a pass over the visible pairs: for each pair, that many multiply-adds
  /// per feature of a query or key, and per feature of a value.
  void add_flops(std::int64_t with_features, std::int64_t with_values) const;
  /// The kernels' top_k: 0 if every key is among the best.
  std::int64_t top_k() const;
  /// The index of a normaliser's sinks among the inputs, if it has any.
  bool has_sinks() const { return normaliser_.sinks().defined(); }
  std::size_t sinks_at() const { return sinks_at_; }
  /// The same for the weights of an additive score.
  bool is_additive() const { return additive_; }
  std::size_t additive_at() const { return additive_at_; }

  /// The observers, ready for one forward pass.
  Observations start_observers() const;

 private:
  struct MadeStage {
    std::shared_ptr<const StageImpl> impl;
    std::size_t first, count;  // of its tensors among the inputs
  };
  using Stages = ArenaVector<MadeStage>;
  template <typename T>
  friend class OwnedProgram;

  void add(const Stage& stage, Stages& list, TensorList& inputs) const;
  void check_counts() const;

  kernels::AttentionShape shape_;
  DType dtype_;
  double scale_;
  bool bf16_;
  bool additive_;
  Normaliser normaliser_;
  std::size_t additive_at_ = 0, sinks_at_ = 0;
  Stages modifiers_, reweights_;
  ArenaVector<Observer> observers_;
  std::unique_ptr<kernels::Visibility> mask_;
};

/// A program with its stages.
template <typename T>
class OwnedProgram {
 public:
  /// For a forward pass with observers.
  OwnedProgram(const ProgramMaker& spec, std::span<const Tensor> inputs,
               const Observations& observations);
  /// For a backward pass. `gradients` is as long as `inputs`; undefined ones are not computed.
  OwnedProgram(const ProgramMaker& spec, std::span<const Tensor> inputs,
               std::span<Tensor> gradients);
  OwnedProgram(const OwnedProgram&) = delete;  // the program refers to the lists
  OwnedProgram& operator=(const OwnedProgram&) = delete;

  const kernels::AttentionProgram<T>& operator*() const { return program_; }

 private:
  using Stages = ArenaVector<kernels::TileStage<T>*>;
  struct Sources;
  void bind(const ProgramMaker& spec, const Sources& from);
  void bind_modifiers(const ProgramMaker& spec, const Sources& from);
  void add(const ProgramMaker::MadeStage& stage, const Sources& from, Stages& list);
  void add_observations(const Sources& from, ObservePoint point, std::size_t after, Stages& list);
  void keep(TileStagePtr<T> stage, Stages& list);

  ArenaVector<TileStagePtr<T>> owned_;
  Stages modifiers_, reweights_;
  kernels::AttentionProgram<T> program_;
};

extern template class OwnedProgram<float>;
extern template class OwnedProgram<double>;

}  // namespace heed
