#include "heed/attention/variants/non_local.h"

#include <algorithm>

#include "heed/attention/attention.h"
#include "heed/attention/stages/observers.h"
#include "heed/attention/stages/score_mod.h"
#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/pool.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

void NonLocalConfig::fields(io::Fields& field) {
  field("embed", embed, "channels of x and of the result", {.min = 1});
  field("channels", channels, "channels inside the block; 0: half of embed", {.min = 0});
  field("form", form, "function that compares two places");
  field("subsample", subsample,
        "keys and values are max-pooled over squares of this size; 1: no pooling", {.min = 1});
}

namespace {

std::int64_t inner_channels(const NonLocalConfig& config) {
  return config.channels > 0 ? config.channels : std::max<std::int64_t>(config.embed / 2, 1);
}

// [B, C, T, H, W] or [B, C, H, W] as [B, N, C].
Tensor as_places(const Tensor& x) {
  std::int64_t N = 1;
  for (int axis = 2; axis < x.rank(); ++axis) N *= x.size(axis);
  return transpose(reshape(x, {x.size(0), x.size(1), N}), 1, 2);  // [B, N, C]
}

// Max-pools features [B, N, C] at the places of a picture over squares: [B, N', C]. Squares are no
// larger than the picture; incomplete ones at its right and lower edge are left out.
Tensor maxima(const Tensor& x, const Tensor& picture, std::int64_t square) {
  if (square == 1 || x.size(1) == 0) return x;
  const std::int64_t B = x.size(0), C = x.size(2), H = picture.size(-2), W = picture.size(-1);
  const std::int64_t frames = x.size(1) / (H * W);
  const Size2d kernel(std::min(square, H), std::min(square, W));
  const Tensor planes = reshape(transpose(x, 1, 2), {B, C * frames, H, W});  // [B, C T, H, W]
  const Tensor found = max_pool2d(planes, kernel);                           // [B, C T, H', W']
  return as_places(reshape(found, {B, C, frames, found.size(2), found.size(3)}));
}

void check(const AttentionInput& in, std::int64_t embed) {
  HEED_CHECK(in.x.defined() && (in.x.rank() == 4 || in.x.rank() == 5) && in.x.size(1) == embed,
             "[non_local] x is {}: it must be [B, {}, H, W] or [B, {}, T, H, W]",
             in.x.defined() ? to_string(in.x.shape()) : "undefined", embed, embed);
  HEED_CHECK(
      !in.memory.defined() && !in.lengths.defined() && !in.causal && in.mask.everything(),
      "[non_local] a memory, lengths, causal or a mask is given: every place of a picture attends "
      "to every other; give x alone");
}

}  // namespace

NonLocal::NonLocal(const Config& config, Generator& generator)
    : g({.in = config.embed, .out = inner_channels(config)}, generator),
      out({.in = inner_channels(config), .out = config.embed}, generator),
      config_(config) {
  init::zeros(out.weight.data);
  init::zeros(out.bias);
  if (config.form == NonLocalForm::gaussian) return;
  const LinearConfig inner{.in = config.embed, .out = inner_channels(config)};
  theta.emplace(inner, generator);
  phi.emplace(inner, generator);
  if (config.form != NonLocalForm::concat) return;
  compare = empty({1, 2 * inner.out});
  init::kaiming_uniform(compare, generator);
  compare = reshape(compare, {2 * inner.out}).requires_grad();
}

void NonLocal::visit(ParameterVisitor& visitor) {
  visitor("theta", theta);
  visitor("phi", phi);
  visitor("g", g);
  visitor("compare", compare);
  visitor("out", out);
}

NonLocal::Operands NonLocal::project(const Tensor& x) const {
  const Tensor places = as_places(x);  // [B, N, C]
  const auto pooled = [&](const Tensor& features) {
    return maxima(features, x, config_.subsample);  // [B, N', …]
  };
  Tensor q = theta ? (*theta)(places) : places;      // [B, N, D]
  Tensor k = pooled(phi ? (*phi)(places) : places);  // [B, N', D]
  if (compare.defined()) {
    // w^T [theta_i, phi_j] = a_i + b_j = (a_i, 1) . (1, b_j).
    const auto [w_theta, w_phi] = split<2>(compare, 0);  // [C']
    const Tensor a = matmul(q, unsqueeze(w_theta, 1));   // [B, N, 1]
    const Tensor b = matmul(k, unsqueeze(w_phi, 1));     // [B, N', 1]
    q = concat({a, ones(a.shape(), a.dtype())}, 2);      // [B, N, 2]
    k = concat({ones(b.shape(), b.dtype()), b}, 2);      // [B, N', 2]
  }
  return {unsqueeze(q, 1), unsqueeze(k, 1), unsqueeze(pooled(g(places)), 1)};
}

AttentionSpec NonLocal::spec_of(std::int64_t keys) const {
  if (config_.form == NonLocalForm::gaussian || config_.form == NonLocalForm::embedded_gaussian) {
    return {.score = dot_score()};
  }
  const double share = 1.0 / static_cast<double>(std::max<std::int64_t>(keys, 1));
  AttentionSpec spec{.score = scaled_dot_score(share), .normaliser = no_normaliser()};
  if (config_.form == NonLocalForm::concat) {
    spec.modifiers.push_back(score_mod(
        [](auto score, int, int, int, int) { return score > 0 ? score : decltype(score)(0); }));
  }
  return spec;
}

Tensor NonLocal::operator()(const AttentionInput& in) const {
  check(in, config_.embed);
  const Operands of = project(in.x);
  AttentionSpec spec = spec_of(of.k.size(2));
  if (in.weights != nullptr) spec.observers = {observe_weights(*in.weights)};  // [B, 1, N, N']
  const Tensor y = attention(of.q, of.k, of.v, spec);                          // [B, 1, N, C']
  const Tensor added = transpose(out(squeeze(y, 1)), 1, 2);                    // [B, C, N]
  return in.x + reshape(added, in.x.shape());                                  // as x
}

}  // namespace heed
