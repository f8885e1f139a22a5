#include "heed/nn/norm.h"

#include "heed/tensor/create.h"

namespace heed {
namespace {

void check_size(const char* layer, std::int64_t size) {
  HEED_CHECK(size > 0, "[{}] size {}: it is required and must be positive", layer, size);
}

// A layer without parameters checks the size of its input too.
void check_input(const char* layer, std::int64_t size, const Tensor& x) {
  HEED_CHECK(x.rank() >= 1 && x.size(-1) == size, "[{}] x {}: the last size must be {}", layer,
             to_string(x.shape()), size);
}

}  // namespace

LayerNorm::LayerNorm(const LayerNormConfig& config) : size_(config.size), eps_(config.eps) {
  check_size("layer_norm", size_);
  if (config.weight) weight = ones({size_}).requires_grad();  // [size]
  if (config.bias) bias = zeros({size_}).requires_grad();     // [size]
}

void LayerNorm::visit(ParameterVisitor& visitor) {
  visitor("weight", weight);
  visitor("bias", bias);
}

Tensor LayerNorm::operator()(const Tensor& x) const {
  check_input("layer_norm", size_, x);
  return layer_norm(x, {.weight = weight, .bias = bias, .eps = eps_});  // […, size]
}

NormResidual LayerNorm::operator()(const Tensor& x, const Tensor& residual) const {
  check_input("layer_norm", size_, x);
  return add_layer_norm(x, residual, {.weight = weight, .bias = bias, .eps = eps_});  // […, size]
}

RmsNorm::RmsNorm(const RmsNormConfig& config) : size_(config.size), eps_(config.eps) {
  check_size("rms_norm", size_);
  if (config.weight) weight = ones({size_}).requires_grad();  // [size]
}

void RmsNorm::visit(ParameterVisitor& visitor) { visitor("weight", weight); }

Tensor RmsNorm::operator()(const Tensor& x) const {
  check_input("rms_norm", size_, x);
  return rms_norm(x, {.weight = weight, .eps = eps_});  // […, size]
}

NormResidual RmsNorm::operator()(const Tensor& x, const Tensor& residual) const {
  check_input("rms_norm", size_, x);
  return add_rms_norm(x, residual, {.weight = weight, .eps = eps_});  // […, size]
}

// ---- either kind --------------------------------------------------------------------------------

namespace {

std::variant<LayerNorm, RmsNorm> make_norm(const NormConfig& config) {
  if (config.kind == NormKind::rms) return RmsNorm({.size = config.size, .eps = config.eps});
  return LayerNorm({.size = config.size, .eps = config.eps, .bias = config.bias});
}

}  // namespace

Norm::Norm(const NormConfig& config) : norm_(make_norm(config)) {}

void Norm::visit(ParameterVisitor& visitor) {
  std::visit([&](auto& norm) { norm.visit(visitor); }, norm_);
}

Tensor Norm::operator()(const Tensor& x) const {
  return std::visit([&](const auto& norm) { return norm(x); }, norm_);
}

NormResidual Norm::operator()(const Tensor& x, const Tensor& residual) const {
  return std::visit([&](const auto& norm) { return norm(x, residual); }, norm_);
}

}  // namespace heed
