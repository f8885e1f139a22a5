#include "heed/training/trainer_config.h"

#include "heed/base/error.h"
#include "heed/io/config.h"

namespace heed {

void OptimizerConfig::fields(io::Fields& field) {
  field("kind", kind, "adam, adamw or sgd");
  field("beta1", beta1, "Adam: decay of the mean of gradients", {.min = 0, .max = 1});
  field("beta2", beta2, "Adam: decay of the mean of squared gradients", {.min = 0, .max = 1});
  field("epsilon", epsilon, "Adam: added to the denominator", {.min = 0, .max = 1});
  field("momentum", momentum, "SGD: momentum", {.min = 0, .max = 1});
  field("weight_decay", weight_decay, "weight decay", {.min = 0, .max = 1000});
  field("decay_matrices_only", decay_matrices_only, "no weight decay for biases and norms");
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          const std::vector<NamedTensor>& parameters,
                                          const OwnedParts& parts) {
  if (config.kind == OptimizerKind::sgd) {
    return std::make_unique<Sgd>(parameters,
                                 SgdConfig{.momentum = config.momentum,
                                           .weight_decay = config.weight_decay,
                                           .decay_matrices_only = config.decay_matrices_only},
                                 parts);
  }
  const AdamConfig adam{.beta1 = config.beta1,
                        .beta2 = config.beta2,
                        .epsilon = config.epsilon,
                        .weight_decay = config.weight_decay,
                        .decay_matrices_only = config.decay_matrices_only};
  if (config.kind == OptimizerKind::adamw) return std::make_unique<AdamW>(parameters, adam, parts);
  return std::make_unique<Adam>(parameters, adam, parts);
}

void TrainerConfig::fields(io::Fields& field) {
  field("after", after, "when to stop: \"10e\" epochs, \"5Ku\" updates, \"0\" never");
  field("valid_freq", valid_freq, "how often to validate");
  field("save_freq", save_freq, "how often to write a checkpoint");
  field("early_stopping", early_stopping,
        "stop after this many validations in a row without improvement; 0: never", {.min = 0});
  field("stop_on", stop_on, "metric that decides which checkpoint is the best");
  field("keep_last", keep_last, "number of checkpoints to keep, besides the best; 0: all",
        {.min = 0});
  field("accumulate", accumulate, "number of batches per update", {.min = 1, .max = 1'000'000});
  field("shards", shards,
        "number of parts of a batch whose gradients are computed alone and added in a fixed order, "
        "by at most so many ranks of MPI; 0: 8 under MPI, 1 otherwise, as before when resuming",
        {.min = 0, .max = 1 << 16});
  field("wire", wire,
        "form of gradients between ranks of MPI: f32, or bf16 with half the bytes, rounded; the "
        "sums of shards are rounded on any number of ranks, so a setting has the same bits on all");
  field("bucket", bucket,
        "elements of gradients, at least, that ranks of MPI send together while others are still "
        "computed; 0: about a million, more on many ranks; it does not change the bits",
        {.min = 0, .max = std::int64_t{1} << 40});
  field("rank_deadline", rank_deadline,
        "seconds after which a rank of MPI that does not answer ends the run; 0: never",
        {.min = 0, .max = 1e9});
  field("clip_norm", clip_norm, "maximum norm of the gradients; 0: no clipping", {.min = 0});
  field("ema", ema,
        "decay of a moving average of the parameters, which is validated and saved; 0: none",
        {.min = 0, .max = 1});
  field("max_skipped", max_skipped,
        "maximum number of updates in a row whose loss or gradient is not finite; they are skipped",
        {.min = 0});
  field("explosion", explosion,
        "skip a rare update whose loss is this many times the usual one; 0: never", {.min = 0});
  field("seed", seed, "seed of all random numbers");
  field("optimizer", optimizer, "optimiser");
  field("schedule", schedule, "schedule of the learning rate");
}

void TrainerConfig::validate() const {
  io::check_limits(*this, "trainer");
  schedule.validate();
  HEED_CHECK(explosion == 0.0 || explosion > 1.0,
             "[train] explosion is {}: it must be above 1, or 0 for never", explosion);
  parse_frequency(after, "after");
  parse_frequency(valid_freq, "valid_freq");
  parse_frequency(save_freq, "save_freq");
}

}  // namespace heed
