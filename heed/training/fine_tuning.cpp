#include "heed/training/fine_tuning.h"

#include <algorithm>

namespace heed {
namespace {

// Whether parameters are in a mapped file, or copies of what is there, as imported models have
// them.
bool is_imported(const Model& model) {
  const std::vector<Tensor> all = model.parameters();
  return std::ranges::none_of(all, [](const Tensor& x) { return x.tracks_grad(); });
}

}  // namespace

void prepare_training(Model& model, const TrainConfig& config) {
  if (config.lora.rank > 0 && model.lora().rank == 0) {
    Generator generator(config.trainer.seed);
    model.adapt(config.lora, generator);
  } else if (is_imported(model)) {
    model.clone_parameters();
    model.requires_grad(true);
  }
  if (!config.freeze.empty()) freeze_parameters(model, config.freeze);
}

}  // namespace heed
