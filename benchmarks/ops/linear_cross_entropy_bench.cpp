// Time and memory of the last layer fused with its loss, a block of rows at a time, against its
// plain twin, which stores all scores. HEED_BENCH_ALL=1 adds other numbers of rows per block.
#include "heed/ops/linear_cross_entropy.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "heed/autograd/tape.h"
#include "heed/base/arena.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

struct Sizes {
  std::int64_t rows, features, classes;
};

constexpr Sizes kSizes[] = {{4096, 128, 10000}, {2048, 512, 32000}};
constexpr int kRounds = 7;
constexpr const char* kGroup = "the last layer with its loss against its plain twin";

class LastLayer {
 public:
  explicit LastLayer(const Sizes& sizes)
      : x_(randn({sizes.rows, sizes.features}).requires_grad()),
        weight_(normal({sizes.classes, sizes.features}, 0.0,
                       1.0 / std::sqrt(static_cast<double>(sizes.features)), default_generator())
                    .requires_grad()),
        targets_(empty({sizes.rows}, DType::i64)) {
    for (std::int64_t i = 0; i < sizes.rows; ++i) {
      targets_.mutable_data<std::int64_t>()[i] = i * 7919 % sizes.classes;
    }
  }

  double fused(bool backward, std::int64_t rows_at_once = 0) {
    return run(backward, [&] {
      return linear_cross_entropy(x_, weight_, targets_, kOptions, rows_at_once).loss;
    });
  }
  double plain(bool backward) {
    return run(backward, [&] { return cross_entropy(linear(x_, weight_), targets_, kOptions); });
  }

 private:
  static constexpr CrossEntropyOptions kOptions = {.label_smoothing = 0.1};

  template <typename Loss>
  double run(bool backward, const Loss& loss_of) {
    const GradScope tape(backward ? GradMode::on : GradMode::off);
    const Tensor loss = loss_of();
    if (backward) {
      loss.backward();
      x_.set_grad({});
      weight_.set_grad({});
    }
    return loss.item();
  }

  Tensor x_, weight_, targets_;
};

// The growth of the arena's peak memory during a call.
template <typename F>
double peak_megabytes(const F& f) {
  const std::size_t before = arena::stats().bytes_live;
  arena::reset_peak();
  f();
  return static_cast<double>(arena::stats().bytes_peak - before) / 1048576.0;
}

std::string describe(const Sizes& s, bool backward) {
  return fmt::format("{}x{}x{} {}", s.rows, s.features, s.classes,
                     backward ? "forward and backward" : "forward");
}

void compare(Report& report, LastLayer& layer, const Sizes& sizes, bool backward) {
  const double plain = layer.plain(backward);
  const double error = std::abs(layer.fused(backward) - plain) / plain;
  for (const int threads : {1, 2}) {
    const Threads use(threads);
    const auto [ours, twin] =
        interleave([&] { layer.fused(backward); }, [&] { layer.plain(backward); }, kRounds);
    report.add({kGroup, describe(sizes, backward), threads, twin / ours, 1.0,
                fmt::format("{:.1f} ms", ours * 1e3), fmt::format("{:.1f} ms twin", twin * 1e3),
                error});
  }
}

void compare_memory(Report& report, LastLayer& layer, const Sizes& sizes, bool backward) {
  const double ours = peak_megabytes([&] { layer.fused(backward); });
  const double twin = peak_megabytes([&] { layer.plain(backward); });
  report.add({"peak memory of the last layer with its loss against its plain twin",
              describe(sizes, backward), num_threads(), twin / ours, 2.0,
              fmt::format("{:.1f} MB", ours), fmt::format("{:.1f} MB twin", twin)});
}

// All numbers of rows in each round, so that all are measured under the same conditions.
void sweep_rows(Report& report, LastLayer& layer, const Sizes& sizes) {
  constexpr std::int64_t kAtOnce[] = {32, 64, 128, 256, 512, 1024, 2048, 4096};
  double best[std::size(kAtOnce)], usual = 1e30;
  std::ranges::fill(best, 1e30);
  for (int round = 0; round < kRounds; ++round) {
    usual = std::min(usual, seconds([&] { layer.fused(true); }));
    for (std::size_t i = 0; i < std::size(kAtOnce); ++i) {
      best[i] = std::min(best[i], seconds([&] { layer.fused(true, kAtOnce[i]); }));
    }
  }
  for (std::size_t i = 0; i < std::size(kAtOnce); ++i) {
    if (kAtOnce[i] > sizes.rows) continue;
    report.add({"rows of scores at once against the usual number: " + describe(sizes, true),
                fmt::format("{} rows", kAtOnce[i]), num_threads(), usual / best[i], 0.0,
                fmt::format("{:.1f} ms", best[i] * 1e3),
                fmt::format("{:.1f} ms the usual number", usual * 1e3)});
  }
}

}  // namespace

void last_layer(Report& report) {
  LastLayer layers[] = {LastLayer(kSizes[0]), LastLayer(kSizes[1])};
  for (const auto measure : {compare, compare_memory}) {
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      for (const bool backward : {false, true}) measure(report, layers[i], kSizes[i], backward);
    }
  }
  if (std::getenv("HEED_BENCH_ALL") == nullptr) return;
  for (std::size_t i = 0; i < std::size(kSizes); ++i) {
    for (const int threads : {1, 2}) {
      const Threads use(threads);
      sweep_rows(report, layers[i], kSizes[i]);
    }
  }
}

}  // namespace heed::bench
