#include "heed/attention/variants/local_p.h"

#include <algorithm>
#include <vector>

#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

void LocalPConfig::fields(io::Fields& field) {
  global.fields(field);
  field("window", window, "maximum distance of visible positions from the predicted centre",
        {.min = 0});
  field("deviation", deviation,
        "standard deviation of the Gaussian around the centre; 0: half the window", {.min = 0});
}

void LocalPConfig::validate() const {
  global.validate();
  HEED_CHECK(window > 0.0 || deviation > 0.0,
             "[local_p] window {} and deviation {}: the Gaussian has no width, give one of them",
             window, deviation);
}

LocalPAttention::LocalPAttention(const Config& config, Generator& generator)
    : GlobalAttention(config.global, generator),
      place_hidden({.in = config.global.embed,
                    .out = config.global.embed,
                    .bias = false,
                    .activation = Activation::tanh},
                   generator),
      place({.in = config.global.embed, .out = 1, .bias = false}, generator),
      window_(config.window),
      deviation_(config.deviation > 0.0 ? config.deviation : config.window / 2.0) {
  config.validate();
}

void LocalPAttention::visit(ParameterVisitor& visitor) {
  GlobalAttention::visit(visitor);
  visitor("place_hidden", place_hidden);
  visitor("place", place);
}

Tensor LocalPAttention::places(const AttentionInput& in, const Place& at) const {
  const std::int64_t B = in.x.size(0), Tq = in.x.size(1);
  const std::int64_t shift = at.corner.shift(Tq, at.keys);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(B), at.keys);
  if (in.lengths.defined()) lengths = in.lengths.to_vector<std::int64_t>();
  Tensor reach = empty({B, Tq}, DType::f64);  // S
  for (std::int64_t n = 0; n < B * Tq; ++n) {
    const std::int64_t length = lengths[static_cast<std::size_t>(n / Tq)];
    const std::int64_t seen = in.causal ? std::min(length, n % Tq + shift + 1) : length;
    reach.mutable_data<double>()[n] = static_cast<double>(seen);
  }
  const Tensor share = sigmoid(squeeze(place(place_hidden(in.x)), -1));  // [B, Tq]
  return share * cast_data(reach, share.dtype());                        // [B, Tq]
}

Tensor LocalPAttention::places(const AttentionInput& in) const {
  return places(in, {in.source().size(1)});
}

void LocalPAttention::specialise(AttentionSpec& spec, const AttentionInput& in,
                                 const Place& at) const {
  const Tensor centres = unsqueeze(places(in, at), 1);  // [B, 1, Tq]
  spec.mask = spec.mask & window_around(centres, window_);
  spec.reweights.push_back(gaussian(centres, deviation_));
}

}  // namespace heed
