// Reformer: the memory of a training step by what it keeps, length and depth, and the time of a
// step against the length at a fixed number of tokens.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "heed/base/arena.h"
#include "heed/models/reformer.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

constexpr std::int64_t kSymbols = 256;
constexpr double kMega = 1048576.0;

struct Setting {
  std::int64_t layers = 6, embed = 256, length = 4096, batch = 1;
  Activations activations = Activations::reversible;
  bool full = false;  // full attention instead of hashing
  std::int64_t heads_at_once = 1;
};

// Reversible layers compute heads and rows in pieces; the others are plain layers.
ReformerConfig config_of(const Setting& setting) {
  const bool in_pieces = setting.activations == Activations::reversible;
  ReformerConfig config{
      .vocabulary = kSymbols,
      .layers = {},
      .block = ReformerBlock{.embed = setting.embed,
                             .heads = 4,
                             .positions = fmt::format("axial max_length={}", setting.length),
                             .feed_forward_rows = in_pieces ? 1024 : 0,
                             .activations = setting.activations}};
  for (std::int64_t i = 0; i < setting.layers; ++i) {
    config.layers += setting.full ? "full " : i % 2 == 0 ? "local " : "lsh ";
  }
  // Two buckets for each chunk of 64, as pairs of two hashes.
  const double buckets = std::max(4.0, 2.0 * static_cast<double>(setting.length) / 64.0);
  const auto first = static_cast<std::int64_t>(std::exp2(std::ceil(std::log2(buckets) / 2.0)));
  const auto second = static_cast<std::int64_t>(buckets) / first;
  config.block.lsh = fmt::format(
      "lsh buckets={} factor={} chunk=64 rounds=4 redraw=true unique=true heads_at_once={}", first,
      second, in_pieces ? setting.heads_at_once : 0);
  return config;
}

Tensor symbols(const Setting& setting, std::uint64_t stream) {
  const RandomStream random{1, stream};
  Tensor ids = empty({setting.batch, setting.length}, DType::i64);
  for (std::int64_t n = 0; n < ids.numel(); ++n) {
    ids.mutable_data<std::int64_t>()[n] = random.below(static_cast<std::uint64_t>(n), kSymbols);
  }
  return ids;
}

class Step {
 public:
  explicit Step(const Setting& setting)
      : model_(config_of(setting)), ids_(symbols(setting, 0)), expected_(symbols(setting, 1)) {}

  void operator()() {
    model_.zero_grad();
    model_.output.loss(model_(ids_), expected_).loss.backward();
  }
  // Beyond parameters and their gradients.
  double peak_bytes() {
    arena::reset_peak();
    const std::size_t before = arena::stats().bytes_live;
    (*this)();
    const std::size_t gradients = arena::stats().bytes_live - before;
    return static_cast<double>(arena::stats().bytes_peak - before - gradients);
  }

 private:
  Reformer model_;
  Tensor ids_, expected_;
};

double peak_bytes(const Setting& setting) {
  const double bytes = Step(setting).peak_bytes();
  arena::trim();
  return bytes;
}

std::string megabytes(double bytes) { return fmt::format("{:.0f} MB", bytes / kMega); }

}  // namespace

void model_reversible(Report& report) {
  const char* const group = "activations of a training step, 6 layers of 256 features";
  constexpr std::int64_t kLongest = 65536;
  for (const std::int64_t length : {std::int64_t{4096}, std::int64_t{16384}, kLongest}) {
    const double ours = peak_bytes({.length = length});
    for (const auto& [what, name, goal] :
         {std::tuple(Activations::kept, "kept", 4.0),
          std::tuple(Activations::checkpointed, "checkpointed", 1.0)}) {
      if (length == kLongest && what == Activations::kept) continue;  // more than 12 GB
      const double theirs = peak_bytes({.length = length, .activations = what});
      report.add({group, fmt::format("n = {}", length), num_threads(), theirs / ours, goal,
                  megabytes(ours), fmt::format("{} {}", megabytes(theirs), name)});
    }
  }
  const double shallow = peak_bytes({.layers = 2}), deep = peak_bytes({.layers = 20});
  report.add({"activations by depth, n = 4096", "20 layers", num_threads(), shallow / deep, 0.95,
              megabytes(deep), megabytes(shallow) + " for 2 layers"});
}

namespace {

// Time ~ n^exponent at a fixed number of tokens means n^(1 + exponent) at a fixed batch.
void measure_growth(Report& report, bool full, std::vector<std::int64_t> lengths) {
  constexpr std::int64_t kTokens = 65536;
  std::vector<double> times;
  for (const std::int64_t length : lengths) {
    Step step(
        {.layers = 2, .embed = 128, .length = length, .batch = kTokens / length, .full = full});
    step();
    times.push_back(seconds(step));
    arena::trim();
    report.note(fmt::format("{} attention, {} x {} tokens: {:.2f} s", full ? "full" : "hashed",
                            kTokens / length, length, times.back()));
  }
  if (full) return;
  const double exponent =
      1.0 + std::log(times.back() / times.front()) / std::log(static_cast<double>(lengths.back()) /
                                                              static_cast<double>(lengths.front()));
  report.add({"growth of a step's time with the length", "hashed and local", num_threads(),
              1.15 / exponent, 1.0, fmt::format("n^{:.2f}", exponent), "n^1.15 the goal"});
}

// The step of benchmarks/peer/reformer_peer.py. Seconds of all threads together are what a busy
// machine disturbs least.
void measure_peer_step(Report& report) {
  constexpr int kSteps = 3;
  for (const std::int64_t heads : {1, 0}) {
    Step step({.heads_at_once = heads});
    step();
    double time = std::numeric_limits<double>::infinity(), of_threads = time;
    for (int i = 0; i < kSteps; ++i) {
      const std::clock_t start = std::clock();
      time = std::min(time, seconds(step));
      of_threads = std::min(of_threads, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    report.note(
        fmt::format("6 layers of 256 features, 1 x 4096 tokens, heads_at_once={}: {:.2f} s, "
                    "{:.2f} s of all threads",
                    heads, time, of_threads));
  }
}

}  // namespace

void model_reformer_step(Report& report) { measure_peer_step(report); }

void model_reformer(Report& report) {
  measure_growth(report, false, {1024, 4096, 16384, 65536});
  measure_growth(report, true, {1024, 4096});
}

}  // namespace heed::bench
