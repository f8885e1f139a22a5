// A supervisor of training on several ranks: starts the launcher of MPI, and starts it again if a
// rank was lost. Training then goes on from its last checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace heed::cli {

struct Supervision {
  std::int64_t restarts = 0;              ///< At most so many.
  std::int64_t ranks = 0;                 ///< To start with; 0: training is not supervised.
  std::string launcher = "mpirun -n {}";  ///< {} stands for the number of ranks.
  std::filesystem::path model;            ///< The folder of the checkpoints.
};

/// Runs this program's command line, without the flags of the supervisor, under the launcher. A run
/// that ends without success is started again with --resume. If it has written no new checkpoint
/// meanwhile, it is started with half as many ranks. Errors of the config (exit codes 1 and 2)
/// before the first new checkpoint are final. SIGINT, SIGTERM and SIGUSR1 ask the ranks to save and
/// stop. Returns the exit code of the last run.
int supervise(const Supervision& supervision);

}  // namespace heed::cli
