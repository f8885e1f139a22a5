// The base class of layers and models. A module is a plain value: its parameters are Tensor
// members, its parts are module members, and visit() names both. All other functions on parameters
// are derived from visit(); nothing is registered anywhere, so modules can be copied, moved and
// kept in vectors.
//
//   struct Classifier : Module {
//     Linear hidden{{.in = 784, .out = 512, .activation = Activation::relu}};
//     Linear scores{{.in = 512, .out = 10}};
//
//     void visit(ParameterVisitor& v) override {
//       v("hidden", hidden);
//       v("scores", scores);
//     }
//     Tensor operator()(const Tensor& x) const { return scores(hidden(x)); }  // [B, 10]
//   };
//
// Its parameters are "hidden.weight", "hidden.bias", "scores.weight", "scores.bias".
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/threads.h"
#include "heed/tensor/tensor.h"

namespace heed {

class Module;
struct Weight;

/// A tensor and its name in a checkpoint.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Tensors with the same key are one parameter under several names: they are tied.
using ParameterKey = std::pair<const std::byte*, std::int64_t>;
inline ParameterKey key_of(const Tensor& parameter) {
  return {parameter.storage()->data(), parameter.offset()};
}

/// Receives the names of parameters and parts from Module::visit.
class ParameterVisitor {
 public:
  using OnParameter = FunctionRef<void(const std::string& name, Tensor& parameter)>;
  using OnModule = FunctionRef<void(Module& module)>;
  using OnWeight = FunctionRef<void(const std::string& name, Weight& weight)>;
  ParameterVisitor(OnParameter on_parameter, OnModule on_module)
      : on_parameter_(on_parameter), on_module_(on_module) {}
  /// A visitor of all parameters that is told besides which of them are buffers.
  ParameterVisitor(OnParameter on_parameter, OnModule on_module, OnParameter on_buffer)
      : on_parameter_(on_parameter), on_module_(on_module), on_buffer_(on_buffer) {}
  /// A visitor of weights; it skips other parameters.
  explicit ParameterVisitor(OnWeight on_weight);

  /// Visits a parameter. An undefined one (the bias of a layer without bias) is skipped.
  void operator()(std::string_view name, Tensor& parameter);
  /// Visits a buffer: a parameter without gradient that the layer itself changes in training.
  void buffer(std::string_view name, Tensor& buffer);
  /// Visits the matrix of a weight, unless it is packed.
  void operator()(std::string_view name, Weight& weight);
  /// Visits a part; its parameters are named "name.weight" and so on.
  void operator()(std::string_view name, Module& child);
  /// Visits a part whose parameters are named "name_weight" and so on, as some checkpoints have
  /// them.
  void joined(std::string_view name, Module& child);
  /// Visits a list of parts, pointers to parts or parameters, named "name.0", "name.1", ….
  template <typename Member>
  void operator()(std::string_view name, std::vector<Member>& children) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      (*this)(fmt::format("{}.{}", name, i), children[i]);
    }
  }
  /// Visits a part that may be absent or of a derived type.
  template <std::derived_from<Module> M>
  void operator()(std::string_view name, std::optional<M>& child) {
    if (child) (*this)(name, *child);
  }
  template <std::derived_from<Module> M>
  void operator()(std::string_view name, std::unique_ptr<M>& child) {
    if (child) (*this)(name, *child);
  }
  /// Visits the module that the walk starts from; its parameters have no prefix.
  void root(Module& module);
  /// The beginning of the names of the current module's parameters: "encoder.layers.0.linear1.".
  const std::string& prefix() const { return prefix_; }

 private:
  std::string full_name(std::string_view name) const;
  void enter(std::string_view name, char separator, Module& child);

  OnParameter on_parameter_;
  OnModule on_module_;
  std::optional<OnParameter> on_buffer_;
  std::optional<OnWeight> on_weight_;
  std::string prefix_;  // of the next name, its separator included
};

/// The base of layers and models. A copy shares the parameters of the original until
/// clone_parameters() gives it its own.
class Module {
 public:
  virtual ~Module() = default;

  /// Passes the module's own parameters and its parts, with their names, to the visitor.
  virtual void visit(ParameterVisitor& visitor) = 0;

  /// All parameters. Tied ones (one tensor with several names) are listed once, under their first
  /// name. A tensor that does not require a gradient (a buffer, a frozen weight) is a parameter
  /// too; optimisers skip it.
  std::vector<NamedTensor> named_parameters() const;
  /// The same without names.
  std::vector<Tensor> parameters() const;
  /// The parameters that layers themselves change in training, such as running averages.
  std::vector<NamedTensor> buffers() const;
  /// All parameters, tied ones once under each of their names.
  std::vector<NamedTensor> every_name() const;
  /// The number of elements of all parameters.
  std::int64_t parameter_count() const;

  /// Switches the module and its parts to training mode or evaluation mode (dropout on or off).
  void train(bool on = true);
  void eval() { train(false); }
  bool training() const { return training_; }

  /// Clears the gradients of all parameters.
  void zero_grad();
  /// Freezes or unfreezes all parameters except buffers. Call it before the optimiser is made.
  void requires_grad(bool on);
  /// Freezes the parameters of which one name is chosen; returns their number. Call it before the
  /// optimiser is made.
  int freeze(FunctionRef<bool(const std::string& name)> chosen);
  /// Converts the floating-point parameters. Call it before the optimiser is made. bf16 parameters
  /// have no gradient.
  void to(DType dtype);
  /// Replaces the parameters with copies, so that they are no longer shared with other modules.
  /// Tied parameters stay tied.
  void clone_parameters();

 protected:
  Module() = default;
  Module(const Module&) = default;
  Module(Module&&) = default;
  Module& operator=(const Module&) = default;
  Module& operator=(Module&&) = default;

 private:
  void replace(FunctionRef<Tensor(const Tensor&)> make);

  bool training_ = true;
};

}  // namespace heed
