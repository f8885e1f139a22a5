// A spec on its way to the kernels: prepared for the sizes of one call, then bound to a precision.
#pragma once

#include <memory>
#include <span>

#include "heed/attention/spec.h"
#include "heed/base/arena_vector.h"
#include "heed/kernels/attention/program.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// A spec for the sizes of one call: checked against them, with the tensors that its stages read.
class PreparedSpec {
 public:
  /// Appends those tensors to `inputs`, which program() wants to see again. The starts of `shape`
  /// must live as long as this.
  PreparedSpec(const AttentionSpec& spec, const kernels::AttentionShape& shape,
               const ScoreOperands& score, DType dtype, TensorList& inputs);

  const kernels::AttentionShape& shape() const { return shape_; }
  bool has_log_sum_exp() const { return normaliser_.has_log_sum_exp(); }
  /// Whether backward works from it.
  bool keeps_log_sum_exp() const { return normaliser_.kind() == kernels::Normalise::softmax; }
  /// Whether some observer wants it.
  bool shows_log_sum_exp() const;
  /// Says what a pass over the visible pairs costs: of each, that many multiplications and
  /// additions with a query's or key's features and with a value's.
  void add_flops(std::int64_t with_features, std::int64_t with_values) const;
  /// As the kernels have it: 0 where every key is among the best.
  std::int64_t top_k() const;
  /// Where a normaliser's sinks are among the inputs; only if it has any.
  bool has_sinks() const { return normaliser_.sinks().defined(); }
  std::size_t sinks_at() const { return sinks_at_; }
  /// The same for the weights of an additive score.
  bool is_additive() const { return additive_; }
  std::size_t additive_at() const { return additive_at_; }

  /// The observers, ready for one forward pass.
  Watchers start_observers() const;

 private:
  struct PreparedStage {
    std::shared_ptr<const StageImpl> impl;
    std::size_t first, count;  // of its tensors among the inputs
  };
  using Stages = ArenaVector<PreparedStage>;
  template <typename T>
  friend class BoundProgram;

  void add(const Stage& stage, Stages& list, TensorList& inputs) const;
  void check_counts() const;

  kernels::AttentionShape shape_;
  DType dtype_;
  double scale_;
  bool additive_;
  Normaliser normaliser_;
  std::size_t additive_at_ = 0, sinks_at_ = 0;
  Stages modifiers_, reweights_;
  ArenaVector<Observer> observers_;
  std::unique_ptr<kernels::Visibility> mask_;
};

/// The stages at work, and the program that lists them.
template <typename T>
class BoundProgram {
 public:
  /// For a forward pass, on which `watchers` look.
  BoundProgram(const PreparedSpec& spec, std::span<const Tensor> inputs, const Watchers& watchers);
  /// For a backward pass. `gradients` is as long as `inputs`; undefined ones are not wanted.
  BoundProgram(const PreparedSpec& spec, std::span<const Tensor> inputs,
               std::span<Tensor> gradients);
  BoundProgram(const BoundProgram&) = delete;  // the program refers to the lists
  BoundProgram& operator=(const BoundProgram&) = delete;

  const kernels::AttentionProgram<T>& operator*() const { return program_; }

 private:
  using Stages = ArenaVector<kernels::TileStage<T>*>;
  struct Sources;
  void bind(const PreparedSpec& spec, const Sources& from);
  void bind_modifiers(const PreparedSpec& spec, const Sources& from);
  void add(const PreparedSpec::PreparedStage& stage, const Sources& from, Stages& list);
  void add_watchers(const Sources& from, Lookout lookout, std::size_t after, Stages& list);
  void keep(TileStagePtr<T> stage, Stages& list);

  ArenaVector<TileStagePtr<T>> owned_;
  Stages modifiers_, reweights_;
  kernels::AttentionProgram<T> program_;
};

extern template class BoundProgram<float>;
extern template class BoundProgram<double>;

}  // namespace heed
