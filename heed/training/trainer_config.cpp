#include "heed/training/trainer_config.h"

#include "heed/base/error.h"

namespace heed {

void OptimizerConfig::fields(io::Fields& field) {
  field("kind", kind, "adam, adamw or sgd");
  field("beta1", beta1, "of Adam: how slowly the mean of gradients changes", {.min = 0, .max = 1});
  field("beta2", beta2, "of Adam: how slowly the mean of their squares changes",
        {.min = 0, .max = 1});
  field("epsilon", epsilon, "of Adam: added to the root of that mean", {.min = 0});
  field("momentum", momentum, "of SGD", {.min = 0, .max = 1});
  field("weight_decay", weight_decay, "how fast parameters shrink", {.min = 0});
  field("decay_matrices_only", decay_matrices_only, "biases and norms do not shrink");
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          const std::vector<NamedTensor>& parameters) {
  if (config.kind == OptimizerKind::sgd) {
    return std::make_unique<Sgd>(parameters,
                                 SgdConfig{.momentum = config.momentum,
                                           .weight_decay = config.weight_decay,
                                           .decay_matrices_only = config.decay_matrices_only});
  }
  const AdamConfig adam{.beta1 = config.beta1,
                        .beta2 = config.beta2,
                        .epsilon = config.epsilon,
                        .weight_decay = config.weight_decay,
                        .decay_matrices_only = config.decay_matrices_only};
  if (config.kind == OptimizerKind::adamw) return std::make_unique<AdamW>(parameters, adam);
  return std::make_unique<Adam>(parameters, adam);
}

void TrainerConfig::fields(io::Fields& field) {
  field("after", after, "when to stop: \"10e\" epochs, \"5Ku\" updates, \"0\" never");
  field("valid_freq", valid_freq, "how often to judge by the validation set");
  field("save_freq", save_freq, "how often to write a checkpoint");
  field("early_stopping", early_stopping,
        "stop after so many validations in a row without gain; 0: never", {.min = 0});
  field("stop_on", stop_on, "the number of a validation that decides what is best");
  field("keep_last", keep_last, "checkpoints to keep, besides the best; 0: all", {.min = 0});
  field("accumulate", accumulate, "batches that make one update", {.min = 1});
  field("clip_norm", clip_norm, "the largest norm of gradients; 0: any", {.min = 0});
  field("max_skipped", max_skipped, "bad updates in a row before training stops", {.min = 0});
  field("explosion", explosion, "a loss so many times the usual one makes an update bad; 0: never",
        {.min = 0});
  field("seed", seed, "of all random numbers");
  field("optimizer", optimizer, "how gradients change parameters");
  field("schedule", schedule, "the learning rate");
}

void TrainerConfig::validate() const {
  parse_frequency(after, "after");
  parse_frequency(valid_freq, "valid_freq");
  parse_frequency(save_freq, "save_freq");
}

}  // namespace heed
