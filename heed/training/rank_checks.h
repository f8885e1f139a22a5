// What must be the same on all ranks before they train together. Equal bits need equal programs,
// instruction sets, configs and data; differences are named, rank by rank.
#pragma once

#include <filesystem>

#include "heed/distributed/communicator.h"
#include "heed/nn/module.h"
#include "heed/training/train_config.h"

namespace heed {

/// Compares versions, instruction sets, configs (but for the number of threads) and the contents of
/// the files that they name.
void check_same_start(Communicator& ranks, const TrainConfig& config);

/// Throws if a rank does not see the files that rank 0 writes into the folder.
void check_shared_folder(Communicator& ranks, const std::filesystem::path& folder);

/// Compares the parameters that training begins with.
void check_same_parameters(Communicator& ranks, const Module& model);

}  // namespace heed
