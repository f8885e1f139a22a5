// Peak memory of training: parameters, gradients, moments of the optimiser and activations, in a
// fresh process for each side, without what it held before the model was made.
#include <fmt/format.h>

#include "benchmarks/models/peer_file.h"
#include "benchmarks/models/point.h"
#include "benchmarks/suites.h"
#include "benchmarks/support/peer.h"

namespace heed::bench {
namespace {

constexpr double kMegabyte = 1048576.0;

std::string mb(double bytes) { return fmt::format("{:.0f} MB", bytes / kMegabyte); }

}  // namespace

void model_memory(Report& report) {
  for (const ModelCase& item : model_cases()) {
    auto peer = Peer::start("models_peer.py");
    if (!peer) {
      report.note("\nmemory: skipped, there is no PyTorch to compare with (set HEED_PEER_PYTHON)");
      return;
    }
    const auto model = item.make();
    const PeerFile file(*model);
    const std::string answer = peer->ask(fmt::format("memory file={} threads=2", file.path()));
    const double theirs = std::stod(field(answer, "mb")) * kMegabyte;
    const double ours = model_peak_bytes(item.name);
    report.add({"peak memory of training against PyTorch (eager)", std::string(item.title), 2,
                theirs / ours, 1.0, mb(ours), mb(theirs) + " PyTorch"});
  }
}

}  // namespace heed::bench
