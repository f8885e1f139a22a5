#include "heed/distributed/join.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "heed_mpi.so";

// What launchers tell their processes: Open MPI, PMIx (also Slurm), PMI (MPICH, Slurm).
bool is_started_by_mpi() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

// Beside the program, as in a build, or where an installation has it.
std::optional<fs::path> find_module() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = program.parent_path();
  for (const fs::path& place :
       {folder / kModule, folder.parent_path() / "lib" / "heed" / kModule,
        folder.parent_path() / "lib" / "x86_64-linux-gnu" / "heed" / kModule}) {
    if (fs::exists(place, error)) return place;
  }
  return {};
}

}  // namespace

bool has_mpi() { return find_module().has_value(); }

std::unique_ptr<Communicator> join_ranks() {
  if (!is_started_by_mpi()) return nullptr;
  const auto path = find_module();
  HEED_CHECK(
      path,
      "[ranks] MPI has started this process, but this heed was built without MPI, and each "
      "process would do the same work: install libopenmpi-dev and build heed again, or start "
      "it without mpirun");
  // MPI loads plugins of its own, which look for its symbols globally.
  void* const module = ::dlopen(path->c_str(), RTLD_NOW | RTLD_GLOBAL);
  HEED_CHECK(module != nullptr, "[ranks] cannot load {}: {}", path->string(), ::dlerror());
  using Join = Communicator* (*)(char*, int);
  const auto join = reinterpret_cast<Join>(::dlsym(module, "heed_join_mpi"));
  HEED_CHECK(join != nullptr, "[ranks] {} is not heed's module for MPI", path->string());
  std::array<char, 1024> error = {};
  std::unique_ptr<Communicator> ranks(join(error.data(), static_cast<int>(error.size())));
  HEED_CHECK(ranks != nullptr, "{}", error.data());
  return ranks;
}

}  // namespace heed
