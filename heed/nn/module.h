// Layers and models. A module is a plain value: its parameters are Tensor members, its parts are
// module members, and one function names both. Everything about parameters derives from that list;
// nothing is registered anywhere, so modules can be copied, moved and kept in vectors.
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
#include <vector>

#include "heed/base/threads.h"
#include "heed/tensor/tensor.h"

namespace heed {

class Module;

/// A tensor and the name it has in a checkpoint.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// What Module::visit names its members to.
class ParameterVisitor {
 public:
  using OnParameter = FunctionRef<void(const std::string& name, Tensor& parameter)>;
  using OnModule = FunctionRef<void(Module& module)>;
  ParameterVisitor(OnParameter on_parameter, OnModule on_module)
      : on_parameter_(on_parameter), on_module_(on_module) {}

  /// A parameter; an undefined one (a layer without bias) is passed over.
  void operator()(std::string_view name, Tensor& parameter);
  /// A part; its parameters are named "name.weight" and so on.
  void operator()(std::string_view name, Module& child);
  /// A part whose parameters are named "name_weight" and so on, as some checkpoints have them.
  void joined(std::string_view name, Module& child);
  /// Members in a row (parts, pointers to parts or parameters), named "name.0", "name.1", ….
  template <typename Member>
  void operator()(std::string_view name, std::vector<Member>& children) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      (*this)(fmt::format("{}.{}", name, i), children[i]);
    }
  }
  /// A part that may be absent, or be of one of several kinds.
  template <std::derived_from<Module> M>
  void operator()(std::string_view name, std::optional<M>& child) {
    if (child) (*this)(name, *child);
  }
  template <std::derived_from<Module> M>
  void operator()(std::string_view name, std::unique_ptr<M>& child) {
    if (child) (*this)(name, *child);
  }
  /// The module the walk starts from, whose parameters have no prefix.
  void root(Module& module);

 private:
  std::string full_name(std::string_view name) const;
  void enter(std::string_view name, char separator, Module& child);

  OnParameter on_parameter_;
  OnModule on_module_;
  std::string prefix_;  // of the next name, its separator included
};

/// The base of layers and models. A copy shares the parameters of the original until
/// clone_parameters() gives it its own.
class Module {
 public:
  virtual ~Module() = default;

  /// Names the module's own parameters and its parts, in the order of its checkpoint.
  virtual void visit(ParameterVisitor& visitor) = 0;

  /// All parameters, tied ones (one tensor under several names) once under their first name. A
  /// tensor that does not require a gradient (a buffer, a frozen weight) is a parameter too:
  /// optimisers pass over it.
  std::vector<NamedTensor> named_parameters() const;
  /// The same without names.
  std::vector<Tensor> parameters() const;
  /// Every name, tied parameters under each of theirs.
  std::vector<NamedTensor> every_name() const;
  /// The number of elements of all parameters.
  std::int64_t parameter_count() const;

  /// Switches the module and its parts between training and use (dropout on or off).
  void train(bool on = true);
  void eval() { train(false); }
  bool training() const { return training_; }

  /// Forgets the gradients of all parameters.
  void zero_grad();
  /// Freezes all parameters or makes them learn again; before the optimiser is made.
  void requires_grad(bool on);
  /// Converts the floating-point parameters; before the optimiser is made. Those of a storage type
  /// (bf16) have no gradient.
  void to(DType dtype);
  /// Gives this module parameters of its own, equal to those it shared; ties within it stay.
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
