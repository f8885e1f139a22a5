// heed info: shows this build, and what it can use on this machine.
#include <fmt/format.h>

#include <string>

#include "cli/verbs.h"
#include "heed/base/isa.h"
#include "heed/base/threads.h"
#include "heed/base/version.h"
#include "heed/kernels/packed/cpu.h"

namespace heed::cli {

void add_info(CLI::App& app) {
  app.add_subcommand("info", "Show version, instruction sets and threads")->callback([] {
    std::string isas;
    for (const Isa isa : available_isas()) isas += fmt::format(" {}", name_of(isa));
    fmt::print(
        "heed {}\ninstruction set {} (of{}; HEED_ISA chooses)\n8-bit dot products {}\n"
        "bf16 dot products {}\nthreads {} (HEED_THREADS chooses)\n",
        version(), name_of(current_isa()), isas,
        kernels::has_vnni() ? "VNNI (HEED_VNNI=0 turns it off)" : "in pairs, without VNNI",
        kernels::has_bf16_dot() ? "AVX512-BF16 (HEED_BF16_DOT=0 turns it off)" : "as f32",
        num_threads());
  });
}

}  // namespace heed::cli
