// Verbs that several processes do together, started by mpirun or srun.
#pragma once

#include <functional>

#include "heed/distributed/communicator.h"

namespace heed::cli {

/// The exit code of a run that ended because a rank was lost: it can be resumed as it is.
inline constexpr int kRankLost = 3;

/// Runs the work of this rank; null: MPI has not started this process. An error of all ranks is
/// thrown on rank 0 alone. An error of one rank is printed with its name and ends all processes.
void run_ranked(const std::function<void(Communicator* ranks)>& work);

}  // namespace heed::cli
