// Makes the job that a config describes: reads the data, makes or reads the vocabularies, and
// initialises the model.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/training/job.h"
#include "heed/training/train_config.h"

namespace heed {

struct MadeJob {
  std::unique_ptr<Job> job;
  std::vector<std::string> notes;  ///< What was read and what was skipped, one line each.
};

/// Makes the job and sets the seed of all random numbers. If the checkpoint of an earlier run is
/// given, its vocabularies and model are used instead of new ones; the config must describe the
/// same model.
MadeJob make_job(const TrainConfig& config, const std::optional<std::filesystem::path>& checkpoint);

}  // namespace heed
