#include "heed/training/optimizer.h"

#include <cmath>

#include "heed/base/arena.h"
#include "heed/kernels/optimizer.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// Names of the moments, as in PyTorch's state dictionaries.
constexpr std::string_view kSgdMoments[] = {"momentum_buffer"};
constexpr std::string_view kAdamMoments[] = {"exp_avg", "exp_avg_sq"};
constexpr std::string_view kSteps = "step";
constexpr const char* kKindKey = "optimizer";  // in the file's metadata

std::span<const std::string_view> sgd_moments(const SgdConfig& config) {
  return std::span(kSgdMoments).first(config.momentum > 0.0 ? 1 : 0);
}

double decay_of(const Tensor& parameter, double decay, bool matrices_only) {
  return matrices_only && parameter.rank() < 2 ? 0.0 : decay;
}

constexpr const char* kMatricesHelp = "no weight decay for biases, norms and other vectors";

}  // namespace

Optimizer::Optimizer(std::string_view kind, std::span<const std::string_view> moments,
                     const std::vector<NamedTensor>& parameters, const OwnedParts& parts)
    : kind_(kind), moment_names_(moments.begin(), moments.end()), has_parts_(!parts.empty()) {
  for (const auto& [name, parameter] : parameters) {
    if (!parameter.tracks_grad()) continue;
    HEED_CHECK(parameter.contiguous(), "[{}] parameter '{}' is a view with gaps: use clone(x)",
               kind, name);
    HEED_CHECK(!parameter.storage()->read_only(),
               "[{}] parameter '{}' belongs to a read-only file: use clone(x)", kind, name);
    HEED_CHECK(parameters_.empty() || parameter.dtype() == dtype(),
               "[{}] parameter '{}' is {}, those before it {}: all must have one dtype", kind, name,
               name_of(parameter.dtype()), name_of(dtype()));
    State state{name, scalar(0.0, DType::i64), {0, parameter.numel()}, {}};
    if (has_parts_) state.part = parts.at(states_.size());
    for (std::size_t k = 0; k < moments.size(); ++k) {
      const Shape shape = has_parts_ ? Shape{state.part.size()} : parameter.shape();
      state.moments[k] = zeros(shape, parameter.dtype());
    }
    parameters_.push_back(parameter);
    states_.push_back(std::move(state));
  }
}

DType Optimizer::dtype() const {
  return parameters_.empty() ? DType::f32 : parameters_.front().dtype();
}

void Optimizer::each_active(FunctionRef<void(Tensor&, const Tensor&, State&)> f) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Tensor& parameter = parameters_[i];
    if (!parameter.grad().defined()) continue;
    // The tape makes contiguous gradients, but set_grad accepts any; this keeps a contiguous copy
    // alive.
    if (!parameter.grad().contiguous()) parameter.set_grad(clone_data(parameter.grad()));
    ++*states_[i].steps.mutable_data<std::int64_t>();
    if (states_[i].part.empty()) continue;
    f(parameter, parameter.grad(), states_[i]);
  }
}

void Optimizer::zero_grad() {
  for (Tensor& parameter : parameters_) parameter.set_grad({});
}

std::vector<NamedTensor> Optimizer::state_tensors() const {
  std::vector<NamedTensor> tensors;
  for (const State& state : states_) {
    tensors.push_back({fmt::format("{}.{}", state.name, kSteps), state.steps});
    for (std::size_t k = 0; k < moment_names_.size(); ++k) {
      tensors.push_back({fmt::format("{}.{}", state.name, moment_names_[k]), state.moments[k]});
    }
  }
  return tensors;
}

std::vector<NamedTensor> Optimizer::whole_state(
    FunctionRef<Tensor(std::size_t, const Tensor&)> gather) const {
  std::vector<NamedTensor> tensors = state_tensors();
  const std::size_t each = 1 + moment_names_.size();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i % each != 0) tensors[i].tensor = gather(i / each, tensors[i].tensor);
  }
  return tensors;
}

void Optimizer::save(const std::filesystem::path& path, std::span<const NamedTensor> state) const {
  save_tensors(state, path, {{kKindKey, kind_}});
}

// Everything is compared before anything is copied.
void Optimizer::load_parts(const io::SafetensorsFile& file) {
  for (const bool copies : {false, true}) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      State& state = states_[i];
      const auto read = [&](std::string_view what, const Shape& shape, Tensor& to,
                            std::int64_t begin) {
        const std::string name = fmt::format("{}.{}", state.name, what);
        const io::SafetensorsEntry& entry = file.find(name);
        HEED_CHECK(entry.shape == shape && entry.dtype == to.dtype(),
                   "[{}] the state of '{}' is {} {}, expected {} {}", kind_, name, entry.dtype_name,
                   to_string(entry.shape), name_of(to.dtype()), to_string(shape));
        if (!copies || to.numel() == 0) return;
        copy_into(
            to, borrow(entry.bytes.data() + begin * static_cast<std::int64_t>(size_of(to.dtype())),
                       to.dtype(), to.shape(), file.keeper()));
      };
      read(kSteps, {}, state.steps, 0);
      for (std::size_t k = 0; k < moment_names_.size(); ++k) {
        read(moment_names_[k], parameters_[i].shape(), state.moments[k], state.part.begin);
      }
    }
  }
}

void Optimizer::load(const std::filesystem::path& path) {
  const io::SafetensorsFile file = io::SafetensorsFile::open(path);
  const auto kind = file.metadata().find(kKindKey);
  HEED_CHECK(kind != file.metadata().end(), "[{}] {} does not hold the state of an optimiser",
             kind_, path.string());
  HEED_CHECK(kind->second == kind_, "[{}] {} holds the state of {}: make that optimiser to load it",
             kind_, path.string(), kind->second);
  has_parts_ ? load_parts(file) : static_cast<void>(load_tensors(state_tensors(), file));
}

void SgdConfig::fields(io::Fields& field) {
  field("momentum", momentum, "decay of the mean of gradients", {.min = 0, .max = 1});
  field("nesterov", nesterov, "use Nesterov momentum");
  field("weight_decay", weight_decay, "factor of the parameter that is added to the gradient",
        {.min = 0});
  field("decay_matrices_only", decay_matrices_only, kMatricesHelp);
}

void SgdConfig::validate() const {
  HEED_CHECK(!nesterov || momentum > 0.0, "[sgd] nesterov needs a momentum above 0");
}

Sgd::Sgd(const std::vector<NamedTensor>& parameters, const SgdConfig& config,
         const OwnedParts& parts)
    : Optimizer("sgd", sgd_moments(config), parameters, parts), config_(config) {
  config.validate();
}

void Sgd::step(const StepOptions& options) {
  visit_float("sgd", dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Scratch<kernels::SgdSlice<T>> slices(size());
    std::size_t count = 0;
    each_active([&](Tensor& parameter, const Tensor& gradient, State& state) {
      Tensor& buffer = state.moments[0];
      slices.data()[count++] = {
          .n = state.part.size(),
          .value = parameter.mutable_data<T>() + state.part.begin,
          .gradient = gradient.data<T>() + state.part.begin,
          .buffer = buffer.defined() ? buffer.mutable_data<T>() : nullptr,
          .l2 = decay_of(parameter, config_.weight_decay, config_.decay_matrices_only)};
    });
    kernels::sgd(std::span<const kernels::SgdSlice<T>>(slices.data(), count),
                 {.rate = options.rate,
                  .momentum = config_.momentum,
                  .gradient_scale = options.gradient_scale,
                  .nesterov = config_.nesterov});
  });
}

void AdamConfig::fields(io::Fields& field) {
  field("beta1", beta1, "decay of the mean of gradients", {.min = 0, .max = 1});
  field("beta2", beta2, "decay of the mean of squared gradients", {.min = 0, .max = 1});
  field("epsilon", epsilon, "added to the denominator, to keep it above 0", {.min = 0});
  field("weight_decay", weight_decay, "weight decay", {.min = 0});
  field("decay_matrices_only", decay_matrices_only, kMatricesHelp);
}

void AdamConfig::validate() const {
  const auto inside = [](double beta) { return beta >= 0.0 && beta < 1.0; };
  HEED_CHECK(inside(beta1) && inside(beta2),
             "[adam] beta1 {}, beta2 {}: both must be at least 0 and below 1", beta1, beta2);
}

Adam::Adam(std::string_view kind, Decay decay, const std::vector<NamedTensor>& parameters,
           const AdamConfig& config, const OwnedParts& parts)
    : Optimizer(kind, kAdamMoments, parameters, parts), decay_(decay), config_(config) {
  config.validate();
}

void Adam::step(const StepOptions& options) {
  visit_float("adam", dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Scratch<kernels::AdamSlice<T>> slices(size());
    std::size_t count = 0;
    each_active([&](Tensor& parameter, const Tensor& gradient, State& state) {
      const auto t = static_cast<double>(state.step());
      const double decay = decay_of(parameter, config_.weight_decay, config_.decay_matrices_only);
      const bool decoupled = decay_ == Decay::decoupled;
      slices.data()[count++] = {.n = state.part.size(),
                                .value = parameter.mutable_data<T>() + state.part.begin,
                                .gradient = gradient.data<T>() + state.part.begin,
                                .mean = state.moments[0].mutable_data<T>(),
                                .square = state.moments[1].mutable_data<T>(),
                                .rate = options.rate / (1.0 - std::pow(config_.beta1, t)),
                                .root = 1.0 / std::sqrt(1.0 - std::pow(config_.beta2, t)),
                                .keep = decoupled ? 1.0 - options.rate * decay : 1.0,
                                .l2 = decoupled ? 0.0 : decay};
    });
    kernels::adam(std::span<const kernels::AdamSlice<T>>(slices.data(), count),
                  {.beta1 = config_.beta1,
                   .beta2 = config_.beta2,
                   .epsilon = config_.epsilon,
                   .gradient_scale = options.gradient_scale});
  });
}

}  // namespace heed
