// Each mechanism of the registry against plain multi-head attention of the same size, and the
// growth of its time with the length.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "benchmarks/family/layer_timer.h"
#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"

namespace heed::bench {
namespace {

constexpr int kThreads = 2;

struct Times {
  double forward = std::numeric_limits<double>::infinity();
  double both = forward;
};

// The best of several calls; more calls for short ones.
void improve(Times& best, LayerTimer& layer) {
  constexpr double kLeast = 0.05;
  for (double spent = 0.0; spent < kLeast;) {
    const double forward = layer.forward(), both = layer.both();
    best = {std::min(best.forward, forward), std::min(best.both, both)};
    spent += forward + both;
  }
}

std::string ms(double seconds) { return fmt::format("{:.2f} ms", seconds * 1e3); }

// A mechanism that is linear in n should have at most this measured exponent.
constexpr double kNearlyLinear = 1.2;

struct Line {
  std::int64_t n;
  Times times;
};

std::vector<Line> grow(const Mechanism& mechanism, std::int64_t longest) {
  std::vector<Line> lines;
  for (std::int64_t n = 64; n <= longest; n *= 2) {
    LayerTimer layer(mechanism, {.n = n});
    Line line{n, {}};
    for (int round = 0; round < 3; ++round) improve(line.times, layer);
    lines.push_back(line);
    if (line.times.both > 20.0) break;
  }
  return lines;
}

// The exponent over the last two doublings, where constant costs no longer matter.
double power(const std::vector<Line>& lines) {
  const Line& last = lines.back();
  const Line& before = lines[lines.size() >= 3 ? lines.size() - 3 : 0];
  return std::log(last.times.both / before.times.both) /
         std::log(static_cast<double>(last.n) / static_cast<double>(before.n));
}

std::string first_faster(const std::vector<Line>& lines, const std::vector<Line>& full) {
  for (std::size_t i = 0; i < std::min(lines.size(), full.size()); ++i) {
    if (lines[i].times.both < full[i].times.both) {
      return fmt::format("n^2; beaten from n {}", lines[i].n);
    }
  }
  return "n^2; not beaten";
}

}  // namespace

void family_cost(Report& report) {
  const Threads use(kThreads);
  const LayerSizes sizes{.n = 512, .batch = 4};
  for (const Mechanism& mechanism : mechanisms()) {
    LayerTimer layer(mechanism, sizes), plain(find_mechanism("multi_head"), sizes);
    Times ours, theirs;
    for (int round = 0; round < 5; ++round) {
      improve(ours, layer);
      improve(theirs, plain);
    }
    const auto add = [&](const char* direction, double time, double yardstick) {
      report.add({"against multi_head, B 4 n 512 embed 256",
                  fmt::format("{} {}", mechanism.name, direction), kThreads, yardstick / time, 0.0,
                  ms(time), ms(yardstick) + " multi_head"});
    };
    add("forward", ours.forward, theirs.forward);
    if (mechanism.traits.gradient != Gradient::none) add("both", ours.both, theirs.both);
  }
}

void family_growth(Report& report) {
  const Threads use(kThreads);
  const std::vector<Line> full = grow(find_mechanism("multi_head"), 16384);
  for (const Mechanism& mechanism : mechanisms()) {
    if (mechanism.name != "multi_head" && mechanism.traits.growth >= 2.0) continue;
    const std::vector<Line> lines = mechanism.name == "multi_head" ? full : grow(mechanism, 16384);
    const double grows = power(lines);
    report.add(
        {"growth with n to 16384, embed 256, forward and backward",
         fmt::format("{}, {} at n {}", mechanism.name, ms(lines.back().times.both), lines.back().n),
         kThreads, 1.0 / grows, mechanism.traits.growth <= 1.0 ? 1.0 / kNearlyLinear : 0.0,
         fmt::format("n^{:.2f}", grows), first_faster(lines, full)});
  }
}

}  // namespace heed::bench
