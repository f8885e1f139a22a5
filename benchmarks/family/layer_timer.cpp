#include "benchmarks/family/layer_timer.h"

#include <fmt/format.h>

#include "benchmarks/support/measure.h"
#include "heed/autograd/tape.h"
#include "heed/tensor/create.h"

namespace heed::bench {

LayerTimer::LayerTimer(const Mechanism& mechanism, const LayerSizes& sizes) {
  std::vector<std::string> options;
  for (const io::FieldInfo& option : mechanism.options()) {
    if (option.path == "embed") options.push_back(fmt::format("embed={}", sizes.embed));
    if (option.path == "heads") options.push_back("heads=4");
    if (option.path == "max_length") options.push_back(fmt::format("max_length={}", sizes.n));
  }
  Generator generator(1);
  layer_ = make_attention(mechanism.name, options, generator);
  layer_->eval();
  const Traits& traits = mechanism.traits;
  const Shape flat{sizes.batch, sizes.n, sizes.embed};
  // A picture with the same number of positions.
  const Shape picture{sizes.batch, sizes.embed, 16, sizes.n / 16};
  in_.x = randn(traits.form == Form::picture ? picture : flat);
  in_.x.requires_grad();
  if (!traits.self) in_.memory = randn(flat).requires_grad();
  in_.causal = false;
  const NoGrad off;
  dy_ = randn((*layer_)(in_).shape());
}

double LayerTimer::forward() const {
  const NoGrad off;
  return seconds([&] { (*layer_)(in_); });
}

double LayerTimer::both() {
  layer_->zero_grad();
  in_.x.set_grad({});
  if (in_.memory.defined()) in_.memory.set_grad({});
  return seconds([&] {
    const Tensor y = (*layer_)(in_);
    if (y.tracks_grad()) backward(y, dy_);
  });
}

}  // namespace heed::bench
