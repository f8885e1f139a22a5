#include "heed/nn/module.h"

#include <map>
#include <set>
#include <utility>

#include "heed/nn/weight.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

constexpr auto kIgnoreParameter = [](const std::string&, Tensor&) {};
constexpr auto kIgnoreModule = [](Module&) {};

void each_parameter(Module& module, ParameterVisitor::OnParameter f) {
  ParameterVisitor(f, kIgnoreModule).root(module);
}

}  // namespace

ParameterVisitor::ParameterVisitor(OnWeight on_weight)
    : ParameterVisitor(kIgnoreParameter, kIgnoreModule) {
  on_weight_ = on_weight;
}

std::string ParameterVisitor::full_name(std::string_view name) const {
  return fmt::format("{}{}", prefix_, name);
}

void ParameterVisitor::operator()(std::string_view name, Tensor& parameter) {
  if (parameter.defined()) on_parameter_(full_name(name), parameter);
}

void ParameterVisitor::buffer(std::string_view name, Tensor& buffer) {
  if (on_buffer_) (*on_buffer_)(full_name(name), buffer);
  (*this)(name, buffer);
}

void ParameterVisitor::operator()(std::string_view name, Weight& weight) {
  if (on_weight_) (*on_weight_)(full_name(name), weight);
  (*this)(name, weight.data);
}

void ParameterVisitor::operator()(std::string_view name, Module& child) { enter(name, '.', child); }

void ParameterVisitor::joined(std::string_view name, Module& child) { enter(name, '_', child); }

void ParameterVisitor::enter(std::string_view name, char separator, Module& child) {
  std::string before = std::exchange(prefix_, full_name(name) + separator);
  root(child);
  prefix_ = std::move(before);
}

void ParameterVisitor::root(Module& module) {
  on_module_(module);
  module.visit(*this);
}

std::vector<NamedTensor> Module::every_name() const {
  std::vector<NamedTensor> all;
  // visit() gives mutable references; here only handles are copied, so the const_cast is safe.
  each_parameter(const_cast<Module&>(*this), [&](const std::string& name, Tensor& parameter) {
    all.push_back({name, parameter});
  });
  return all;
}

std::vector<NamedTensor> Module::named_parameters() const {
  std::vector<NamedTensor> once;
  std::map<ParameterKey, std::size_t> seen;
  for (NamedTensor& named : every_name()) {
    const auto [entry, fresh] = seen.try_emplace(key_of(named.tensor), once.size());
    if (fresh) {
      once.push_back(std::move(named));
      continue;
    }
    const NamedTensor& first = once[entry->second];
    HEED_CHECK(named.tensor.node() == first.tensor.node(),
               "[module] '{}' and '{}' share their values but not their gradients: tie parameters "
               "by assigning one Tensor to the other after requires_grad()",
               first.name, named.name);
  }
  return once;
}

std::vector<NamedTensor> Module::buffers() const {
  std::vector<NamedTensor> found;
  const auto add = [&](const std::string& name, Tensor& buffer) {
    found.push_back({name, buffer});
  };
  ParameterVisitor(kIgnoreParameter, kIgnoreModule, add).root(const_cast<Module&>(*this));
  return found;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> tensors;
  for (NamedTensor& named : named_parameters()) tensors.push_back(std::move(named.tensor));
  return tensors;
}

std::int64_t Module::parameter_count() const {
  std::int64_t count = 0;
  for (const NamedTensor& named : named_parameters()) count += named.tensor.numel();
  std::set<const PackedWeight*> packed;
  ParameterVisitor([&](const std::string&, Weight& weight) {
    if (weight.packed && packed.insert(weight.packed.get()).second) {
      count += weight.out() * weight.in();
    }
  }).root(const_cast<Module&>(*this));
  return count;
}

void Module::train(bool on) {
  const auto set = [on](Module& module) { module.training_ = on; };
  ParameterVisitor(kIgnoreParameter, set).root(*this);
}

void Module::zero_grad() {
  each_parameter(*this, [](const std::string&, Tensor& parameter) {
    if (parameter.tracks_grad()) parameter.set_grad({});
  });
}

// One new tensor for each old one, so that tied parameters stay tied.
void Module::replace(FunctionRef<Tensor(const Tensor&)> make) {
  std::map<ParameterKey, Tensor> made;
  each_parameter(*this, [&](const std::string&, Tensor& parameter) {
    const auto [entry, fresh] = made.try_emplace(key_of(parameter));
    if (fresh) entry->second = make(parameter);
    parameter = entry->second;
  });
}

void Module::requires_grad(bool on) {
  std::set<ParameterKey> without;
  for (const NamedTensor& buffer : buffers()) without.insert(key_of(buffer.tensor));
  replace([&](const Tensor& old) {
    if (!is_floating(old.dtype()) || without.contains(key_of(old))) return old;
    Tensor parameter = old;
    parameter.requires_grad(on);
    return parameter;
  });
}

int Module::freeze(FunctionRef<bool(const std::string& name)> chosen) {
  std::set<ParameterKey> frozen;
  each_parameter(*this, [&](const std::string& name, Tensor& parameter) {
    if (chosen(name)) frozen.insert(key_of(parameter));
  });
  replace([&](const Tensor& old) {
    Tensor parameter = old;
    if (frozen.contains(key_of(old)) && old.tracks_grad()) parameter.requires_grad(false);
    return parameter;
  });
  return static_cast<int>(frozen.size());
}

void Module::to(DType dtype) {
  HEED_CHECK(is_floating(dtype), "[module] parameters cannot be {}: use f32, f64 or bf16",
             name_of(dtype));
  replace([dtype](const Tensor& old) {
    if (!is_floating(old.dtype()) || old.dtype() == dtype) return old;
    Tensor parameter = cast_data(old, dtype);
    return parameter.requires_grad(old.tracks_grad() && dtype != DType::bf16);
  });
}

void Module::clone_parameters() {
  replace([](const Tensor& old) {
    Tensor parameter = clone_data(old);
    return parameter.requires_grad(old.tracks_grad());
  });
}

}  // namespace heed
