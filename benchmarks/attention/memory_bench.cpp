// Peak memory against the length, including operands and results: of heed's attention, which grows
// linearly with n, compared with one n x n matrix; and of PyTorch with a window as a boolean mask.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "benchmarks/attention/memory_point.h"
#include "benchmarks/suites.h"
#include "benchmarks/support/peer.h"

namespace heed::bench {
namespace {

constexpr std::int64_t kLongest = 32768;
constexpr int kThreads = 2;

std::string mb(double bytes) { return fmt::format("{:.1f} MB", bytes / 1048576.0); }

const char* title_of(const std::string& direction) {
  return direction == "both" ? "forward and backward" : "forward";
}

// q, k, v and the output, and their gradients.
double operand_bytes(std::int64_t n, const std::string& direction) {
  const double tensors = direction == "both" ? 8.0 : 4.0;
  return tensors * static_cast<double>(n * kMemoryD) * sizeof(float);
}

// The exponent of the growth of memory with n.
double growth(double at_quarter, double at_whole) {
  return std::log(at_whole / at_quarter) / std::log(4.0);
}

void against_matrix(Report& report, const std::string& variant, const std::string& direction) {
  const std::string group =
      fmt::format("peak memory, one head, d 64, {}, {}", variant == "none" ? "no mask" : variant,
                  title_of(direction));
  double at_quarter = 0.0, bytes = 0.0;
  for (std::int64_t n = 1024; n <= kLongest; n *= 2) {
    bytes = peak_bytes({variant, direction, n});
    if (n == kLongest / 4) at_quarter = bytes;
    const double matrix = static_cast<double>(n * n) * sizeof(float);
    report.add({group,
                fmt::format("n {}, {} of operands and results", n, mb(operand_bytes(n, direction))),
                kThreads, matrix / bytes, 1.0, mb(bytes), mb(matrix) + " one n x n matrix"});
  }
  const double power = growth(at_quarter, bytes);
  report.add({group, fmt::format("growth from n {} to {}", kLongest / 4, kLongest), kThreads,
              1.0 / power, 0.9, fmt::format("n^{:.2f}", power), "n^1"});
}

// A process for each point, as for heed.
std::optional<double> peer_bytes(std::int64_t n, const std::string& direction) {
  auto peer = Peer::start("attention_peer.py");
  if (!peer) return std::nullopt;
  const std::string answer = peer->ask(fmt::format(
      "memory n={} d={} variant=window direction={} threads={}", n, kMemoryD, direction, kThreads));
  return std::stod(field(answer, "mb")) * 1048576.0;
}

void against_peer(Report& report, const std::string& direction) {
  double at_quarter = 0.0, theirs = 0.0;
  for (std::int64_t n = 2048; n <= kLongest; n *= 4) {
    const auto peer = peer_bytes(n, direction);
    if (!peer) {
      report.note("\nPyTorch's memory: skipped, there is none (set HEED_PEER_PYTHON)");
      return;
    }
    at_quarter = theirs;
    theirs = *peer;
    const double ours = peak_bytes({"window", direction, n});
    report.add({"peak memory of a window of 256, PyTorch with a boolean mask",
                fmt::format("n {} {}", n, title_of(direction)), kThreads, theirs / ours, 1.0,
                mb(ours), mb(theirs) + " PyTorch"});
  }
  report.note(fmt::format("  PyTorch, {}: grows as n^{:.2f}", title_of(direction),
                          growth(at_quarter, theirs)));
}

}  // namespace

void attention_memory(Report& report) {
  for (const char* const variant : {"none", "causal"}) {
    for (const char* const direction : {"forward", "both"}) {
      against_matrix(report, variant, direction);
    }
  }
  for (const char* const direction : {"forward", "both"}) against_peer(report, direction);
}

}  // namespace heed::bench
