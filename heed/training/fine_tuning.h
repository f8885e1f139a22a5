// Going on from a trained model: which of its parameters are trained.
#pragma once

#include "heed/models/model.h"
#include "heed/training/train_config.h"

namespace heed {

/// Prepares a model for the training that a config describes. With adapters (lora) its parameters
/// stay where they are, perhaps in a mapped file, and only the adapters are trained. Otherwise
/// parameters in a mapped file are copied, and all are trained except those that `freeze` names.
void prepare_training(Model& model, const TrainConfig& config);

}  // namespace heed
