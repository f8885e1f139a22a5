// Joining the ranks that mpirun or srun has started.
#pragma once

#include <memory>

#include "heed/distributed/communicator.h"

namespace heed {

/// Whether this build has the module for MPI.
bool has_mpi();

/// The ranks of the job that MPI has started this process in; null if it was started without MPI.
/// Throws if the module for MPI is not there: each process would then train the same model.
std::unique_ptr<Communicator> join_ranks();

}  // namespace heed
