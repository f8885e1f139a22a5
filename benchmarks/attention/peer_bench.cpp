// Attention against PyTorch, the fastest of eager, compiled and (forward, where it can win)
// FlexAttention: times of whole calls, without gradients and with all of them. The same variants
// are in benchmarks/peer/attention_cases.py. HEED_BENCH_ALL=1 adds n 8192 with d 32 and 128.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "benchmarks/attention/problem.h"
#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "benchmarks/support/peer.h"
#include "heed/attention/masks.h"

namespace heed::bench {
namespace {

enum class Direction { forward, both };

struct Variant {
  const char* name;
  const char* title;
  MakeSpec make;
};

AttentionSpec padded(const AttentionSizes& s, Learned&) {
  return {.mask = key_lengths({s.n * 3 / 4})};
}

std::vector<Variant> variants() {
  return {{"none", "no mask", plain},
          {"causal", "causal", masked(causal())},
          {"padding", "padding, a quarter of the keys", padded},
          {"bias", "learned dense bias", biased},
          {"dropout", "dropout 0.1", dropped},
          {"window", "window of 256", masked(window(255, 0))},
          {"gqa", "grouped queries", plain}};
}

AttentionSizes sizes_of(std::int64_t n, std::int64_t d, const std::string& variant) {
  if (variant != "gqa") return {n, d, heads_for(n), heads_for(n)};
  return n <= 2048 ? AttentionSizes{n, d, 8, 2} : AttentionSizes{n, d, 4, 1};
}

// heed should be clearly faster than PyTorch's fused kernel without a mask, more so where its
// causal tiles are too large for short sequences, and never slower. It should be much faster where
// PyTorch does not use its fused kernel.
double goal_of(const std::string& variant, std::int64_t n, bool fused) {
  if (!fused) return 3.0;
  if (variant == "causal" && n <= 1024) return 2.0;
  return variant == "none" || variant == "causal" ? 1.3 : 1.0;
}

struct Mode {
  std::string name;
  double seconds = 1e30;
};

// FlexAttention has no backward on a CPU and takes 5 s to compile, so it is measured only where it
// may be the fastest. Measured against eager, with 2.13: 1.9 times the time at n 128, 1.6 without a
// mask at n 2048, 1.1 with padding, 0.9 causal, 0.3 with the window.
std::vector<Mode> modes_of(const std::string& variant, std::int64_t n, Direction direction) {
  std::vector<Mode> modes = {{"eager"}, {"compile"}};
  const bool can_win = variant == "causal" || variant == "window" || variant == "bias";
  if (direction == Direction::forward && n >= 512 && can_win) modes.push_back({"flex"});
  return modes;
}

const Mode& fastest(const std::vector<Mode>& modes) {
  return *std::min_element(modes.begin(), modes.end(),
                           [](const Mode& a, const Mode& b) { return a.seconds < b.seconds; });
}

struct Comparison {
  double ours = 1e30;
  Mode theirs;
  bool fused = true;  // whether PyTorch uses its fused kernel
};

class Duel {
 public:
  Duel(Peer& peer, AttentionProblem& problem, std::string variant, Direction direction)
      : peer_(peer),
        problem_(problem),
        direction_(direction),
        modes_(modes_of(variant, problem.sizes().n, direction)) {
    const AttentionSizes& s = problem.sizes();
    request_ = fmt::format("attention n={} d={} heads={} kv_heads={} variant={} direction={}", s.n,
                           s.d, s.heads, s.kv_heads, variant,
                           direction == Direction::both ? "both" : "forward");
  }

  // Two rounds, each with PyTorch and heed: together best of 8, or of 3 for long ones.
  Comparison run(int threads) {
    const Threads use(threads);
    once();
    const bool quick = once() < 0.05;
    Comparison result;
    for (int round = 0; round < 2; ++round) {
      const int repeats = quick ? 4 : 2 - round;
      ask(result, threads, repeats);
      for (int i = 0; i < repeats; ++i) result.ours = std::min(result.ours, repeat());
    }
    result.theirs = fastest(modes_);
    return result;
  }

 private:
  double once() {
    return direction_ == Direction::both ? problem_.time_both() : problem_.time_forward();
  }

  // Seconds per call, measured over at least 10 ms.
  double repeat() {
    double time = 0.0;
    int calls = 0;
    for (; time < 0.01; ++calls) time += once();
    return time / calls;
  }

  // A mode that is much slower after a round is not measured again.
  void ask(Comparison& result, int threads, int repeats) {
    const double best = fastest(modes_).seconds;
    for (Mode& mode : modes_) {
      if (best < 1e30 && mode.seconds > 1.3 * best) continue;
      const std::string answer = peer_.ask(
          fmt::format("{} threads={} mode={} repeats={}", request_, threads, mode.name, repeats));
      mode.seconds = std::min(mode.seconds, std::stod(field(answer, "best_us")) * 1e-6);
      result.fused = field(answer, "path") == "fused";
    }
    if (threads > 1) Peer::settle();
  }

  Peer& peer_;
  AttentionProblem& problem_;
  Direction direction_;
  std::vector<Mode> modes_;
  std::string request_;
};

constexpr std::int64_t kErrorsUpTo = 2048;  // longer ones take minutes in double

void compare(Report& report, Peer& peer, const Variant& variant, const AttentionSizes& s) {
  AttentionProblem problem(s, variant.make, all_pairs(s.n));
  const auto errors = s.n <= kErrorsUpTo ? problem.errors() : AttentionProblem::Errors{-1.0, -1.0};
  for (const Direction direction : {Direction::forward, Direction::both}) {
    const bool both = direction == Direction::both;
    for (const int threads : {1, 2}) {
      const Comparison c = Duel(peer, problem, variant.name, direction).run(threads);
      const std::string heads =
          s.heads == s.kv_heads ? "" : fmt::format(" heads {}:{}", s.heads, s.kv_heads);
      report.add({fmt::format("against PyTorch: {}", variant.title),
                  fmt::format("n {} d {}{} {}", s.n, s.d, heads,
                              both ? "forward and backward" : "forward"),
                  threads, c.theirs.seconds / c.ours, goal_of(variant.name, s.n, c.fused),
                  fmt::format("{:.2f} ms", c.ours * 1e3),
                  fmt::format("{:.2f} ms PyTorch, {}{}", c.theirs.seconds * 1e3, c.theirs.name,
                              c.fused ? "" : ", unfused"),
                  both ? std::max(errors.forward, errors.backward) : errors.forward});
    }
  }
}

}  // namespace

void attention_peers(Report& report) {
  auto peer = Peer::start("attention_peer.py");
  if (!peer) {
    report.note(
        "\nattention against PyTorch: skipped, there is none to compare with (set "
        "HEED_PEER_PYTHON, or use ./run bench)");
    return;
  }
  report.note(fmt::format("\npeer: {}", peer->ask("versions")));
  const bool all = std::getenv("HEED_BENCH_ALL") != nullptr;
  for (const Variant& variant : variants()) {
    for (const std::int64_t n : {128, 512, 2048, 8192}) {
      for (const std::int64_t d : {32, 64, 128}) {
        if (n == 8192 && d != 64 && !all) continue;
        compare(report, *peer, variant, sizes_of(n, d, variant.name));
      }
    }
  }
}

}  // namespace heed::bench
