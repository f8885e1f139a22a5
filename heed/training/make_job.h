// The job that a config describes: data read, vocabularies made or read, a model with its first
// values.
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
  std::vector<std::string> notes;  ///< What was read and left out, a line each.
};

/// Makes the job; the seed of all random numbers is set. Given the checkpoint of an earlier run,
/// its vocabularies and model are taken, so that nothing is made anew.
MadeJob make_job(const TrainConfig& config, const std::optional<std::filesystem::path>& checkpoint);

}  // namespace heed
