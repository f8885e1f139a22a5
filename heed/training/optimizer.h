// Optimisers: SGD, Adam and AdamW over a list of named parameters. A step is one pass over all of
// them (kernels/optimizer.h); it allocates nothing, does not change the gradients, and skips
// parameters without one. The learning rate and the gradient scale are arguments of the step:
// schedules and clipping are functions, not parts of an optimiser.
//
//   AdamW optimizer(model.named_parameters(), {.weight_decay = 0.01});
//   loss.backward();
//   const auto gradient = clip(optimizer.parameters(), 1.0);
//   optimizer.step({.rate = rate(schedule, update), .gradient_scale = gradient.scale});
//   optimizer.zero_grad();
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/threads.h"
#include "heed/distributed/partition.h"
#include "heed/io/fields.h"
#include "heed/io/safetensors.h"
#include "heed/nn/module.h"

namespace heed {

/// The elements of each trained parameter that an optimiser steps, where other processes step the
/// others; none: all elements of all. It keeps moments only of these.
using OwnedParts = std::vector<ElementRange>;

/// The arguments that change from step to step.
struct StepOptions {
  double rate;
  double gradient_scale = 1.0;  // factor applied to all gradients
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient.
  virtual void step(const StepOptions& options) = 0;
  /// Removes the gradients.
  void zero_grad();
  /// The trained parameters: those that required a gradient when the optimiser was made.
  std::span<const Tensor> parameters() const { return parameters_; }

  /// Writes the state (number of steps, and moments), atomically; training can resume exactly from
  /// it.
  void save(const std::filesystem::path& path) const { save(path, state_tensors()); }
  /// Writes a state that whole_state() has returned.
  void save(const std::filesystem::path& path, std::span<const NamedTensor> state) const;
  /// The state of all parameters whole; gather(parameter, part) makes a whole moment of the parts
  /// that the processes have.
  std::vector<NamedTensor> whole_state(
      FunctionRef<Tensor(std::size_t parameter, const Tensor& part)> gather) const;
  /// Reads the state that save() has written for an optimiser of the same kind and parameters of
  /// the same names and shapes, as far as its parts reach; on an error nothing is changed.
  void load(const std::filesystem::path& path);

 protected:
  /// `kind` and `moments` name the optimiser and the tensors it keeps for each parameter.
  Optimizer(std::string_view kind, std::span<const std::string_view> moments,
            const std::vector<NamedTensor>& parameters, const OwnedParts& parts);

  static constexpr std::size_t kMaxMoments = 2;
  struct State {
    std::string name;
    Tensor steps;                             // i64: number of updates of this parameter
    ElementRange part;                        // of the parameter, which is stepped
    std::array<Tensor, kMaxMoments> moments;  // of that part

    std::int64_t step() const { return *steps.data<std::int64_t>(); }
  };

  /// All parameters have one dtype.
  DType dtype() const;
  std::int64_t size() const { return static_cast<std::int64_t>(parameters_.size()); }
  /// Counts the step of each parameter that has a gradient, then calls f for it unless its part is
  /// empty.
  void each_active(FunctionRef<void(Tensor& parameter, const Tensor& gradient, State& state)> f);

 private:
  std::vector<NamedTensor> state_tensors() const;
  void load_parts(const io::SafetensorsFile& file);

  std::string kind_;
  std::vector<std::string_view> moment_names_;
  std::vector<Tensor> parameters_;
  std::vector<State> states_;
  bool has_parts_;
};

struct SgdConfig {
  double momentum = 0.0;
  bool nesterov = false;
  double weight_decay = 0.0;
  bool decay_matrices_only = false;

  void fields(io::Fields& field);
  void validate() const;
};

/// Gradient descent with momentum as in PyTorch: the rate is not part of the momentum, weight decay
/// is added to the gradient.
class Sgd : public Optimizer {
 public:
  explicit Sgd(const std::vector<NamedTensor>& parameters, const SgdConfig& config = {},
               const OwnedParts& parts = {});
  void step(const StepOptions& options) override;

 private:
  SgdConfig config_;
};

struct AdamConfig {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  bool decay_matrices_only = false;

  void fields(io::Fields& field);
  void validate() const;
};

/// Adam (Kingma and Ba 2015); weight decay is added to the gradient.
class Adam : public Optimizer {
 public:
  explicit Adam(const std::vector<NamedTensor>& parameters, const AdamConfig& config = {},
                const OwnedParts& parts = {})
      : Adam("adam", Decay::added, parameters, config, parts) {}
  void step(const StepOptions& options) override;

 protected:
  enum class Decay { added, decoupled };
  Adam(std::string_view kind, Decay decay, const std::vector<NamedTensor>& parameters,
       const AdamConfig& config, const OwnedParts& parts);

 private:
  Decay decay_;
  AdamConfig config_;
};

/// AdamW (Loshchilov and Hutter 2019): parameters shrink by rate * decay separately from Adam's
/// step.
class AdamW : public Adam {
 public:
  explicit AdamW(const std::vector<NamedTensor>& parameters, const AdamConfig& config = {},
                 const OwnedParts& parts = {})
      : Adam("adamw", Decay::decoupled, parameters, config, parts) {}
};

}  // namespace heed
