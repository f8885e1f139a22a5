// A stage that changes scores or weights, as a value: the functions of stages.h make stages, an
// AttentionSpec lists them, and attention binds them to the sizes of a call.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/arena_vector.h"
#include "heed/kernels/attention/program.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// A list of tensors that is made for every call.
using TensorList = ArenaVector<Tensor>;

/// What a stage is bound to: the sizes, its tensors, and where their gradients go.
struct StageBinding {
  const kernels::AttentionShape& shape;
  std::span<const Tensor> inputs;  ///< The result of StageImpl::inputs.
  std::span<Tensor>
      gradients;  ///< One for each input, initially 0, or undefined if not wanted; or empty.

  template <typename T>
  const T* input(std::size_t i) const {
    return inputs[i].data<T>();
  }
  bool wants_gradient(std::size_t i) const { return !gradients.empty() && gradients[i].defined(); }
  /// Contiguous, to be added to; null if not wanted.
  template <typename T>
  T* gradient(std::size_t i) const {
    return wants_gradient(i) ? gradients[i].mutable_data<T>() : nullptr;
  }
};

template <typename T>
using TileStagePtr = std::unique_ptr<kernels::TileStage<T>>;

/// The implementation of a stage; it must be immutable because specs share it. Implementations
/// derive from StageOf below.
class StageImpl {
 public:
  virtual ~StageImpl() = default;
  /// The name of the function that makes it, for messages.
  virtual std::string name() const = 0;
  /// Throws heed::Error if the stage does not fit a call of that shape and dtype. Returns its
  /// tensors in the form that bind takes, computed from the user's tensors by differentiable ops.
  virtual TensorList inputs(const kernels::AttentionShape& shape, DType dtype) const {
    static_cast<void>(shape), static_cast<void>(dtype);
    return {};
  }
  /// The stage bound to a call, which may refer to the tensors of the binding; null if it changes
  /// nothing.
  virtual TileStagePtr<float> bind_f32(const StageBinding& to) const = 0;
  virtual TileStagePtr<double> bind_f64(const StageBinding& to) const = 0;
};

/// Implements both precisions by one member template of Self: make<T>(to) -> TileStagePtr<T>.
template <typename Self>
class StageOf : public StageImpl {
 public:
  TileStagePtr<float> bind_f32(const StageBinding& to) const final {
    return static_cast<const Self*>(this)->template make<float>(to);
  }
  TileStagePtr<double> bind_f64(const StageBinding& to) const final {
    return static_cast<const Self*>(this)->template make<double>(to);
  }
};

/// The common base of Modifier and Reweight.
class Stage {
 public:
  explicit Stage(std::shared_ptr<const StageImpl> impl) : impl_(std::move(impl)) {}
  std::string name() const { return impl_->name(); }
  const std::shared_ptr<const StageImpl>& impl() const { return impl_; }

 private:
  std::shared_ptr<const StageImpl> impl_;
};

/// Changes scores before they are normalised.
class Modifier : public Stage {
 public:
  using Stage::Stage;
};

/// Changes weights after they are normalised; must be linear in them.
class Reweight : public Stage {
 public:
  using Stage::Stage;
};

/// Makes a Modifier or a Reweight with an implementation: make_stage<Modifier, Alibi>(slopes,
/// corner).
template <typename Handle, typename Impl, typename... Args>
Handle make_stage(Args&&... args) {
  return Handle(std::make_shared<const Impl>(std::forward<Args>(args)...));
}

/// A stage without tensors: bind(T{}) makes the TileStagePtr<T>.
template <typename Bind>
class StageWithoutInputs : public StageOf<StageWithoutInputs<Bind>> {
 public:
  StageWithoutInputs(const char* name, Bind bind) : name_(name), bind_(std::move(bind)) {}
  std::string name() const override { return name_; }
  template <typename T>
  TileStagePtr<T> make(const StageBinding&) const {
    return bind_(T{});
  }

 private:
  const char* name_;
  Bind bind_;
};

/// Makes a Modifier or a Reweight of such a stage: make_simple_stage<Modifier>("name", bind).
template <typename Handle, typename Bind>
Handle make_simple_stage(const char* name, Bind bind) {
  return make_stage<Handle, StageWithoutInputs<Bind>>(name, std::move(bind));
}

/// Throws unless a stage's tensor is defined and has the dtype of the call.
void check_parameter(std::string_view stage, const char* what, const Tensor& x, DType dtype);

/// Throws unless x [B, H, Tq], with B and H possibly 1, broadcasts to one number for each query of
/// the call.
void check_query_numbers(std::string_view stage, const char* what, const Tensor& x,
                         const kernels::AttentionShape& shape);

}  // namespace heed
