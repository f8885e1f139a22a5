// heed info: shows this build, and what it can use on this machine.
#include <fmt/format.h>

#include <string>

#include "cli/verbs.h"
#include "heed/base/isa.h"
#include "heed/base/threads.h"
#include "heed/base/version.h"

namespace heed::cli {

void add_info(CLI::App& app) {
  app.add_subcommand("info", "Show version, instruction sets and threads")->callback([] {
    std::string isas;
    for (const Isa isa : available_isas()) isas += fmt::format(" {}", name_of(isa));
    fmt::print(
        "heed {}\ninstruction set {} (of{}; HEED_ISA chooses)\nthreads {} (HEED_THREADS chooses)\n",
        version(), name_of(current_isa()), isas, num_threads());
  });
}

}  // namespace heed::cli
