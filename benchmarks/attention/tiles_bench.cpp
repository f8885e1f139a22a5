// The fused kernels against the machine's peak: useful operations per second, of visible pairs
// only, relative to those of oneDNN's sgemm in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "benchmarks/attention/problem.h"
#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "benchmarks/support/peak.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/observers.h"
#include "heed/attention/stages/score_mod.h"
#include "heed/base/isa.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

// The rates of both directions, and the peak.
struct Figures {
  double forward = 0.0, backward = 0.0, peak = 0.0;
};

Figures measure(AttentionProblem& problem, int threads) {
  constexpr int kRounds = 9;
  constexpr double kLeast = 0.03;  // shortest measurement in seconds, so that caches are warm
  const Threads use(threads);
  Figures best;
  const auto rate = [](double flops, const auto& once) {
    double time = 0.0, done = 0.0;
    for (; time < kLeast; done += flops) time += once();
    return done / time * 1e-9;
  };
  for (int round = 0; round < kRounds; ++round) {
    best.peak = std::max(best.peak, sgemm_gflops(threads));
    best.forward = std::max(best.forward,
                            rate(problem.forward_flops(), [&] { return problem.time_forward(); }));
    best.backward = std::max(
        best.backward, rate(problem.backward_flops(), [&] { return problem.time_backward(); }));
  }
  return best;
}

struct Goals {
  double forward, backward;
};

constexpr std::int64_t kTileErrorsUpTo = 2048;  // longer ones take minutes in double

Figures report_peak(Report& report, const std::string& group, const std::string& name,
                    AttentionProblem problem, Goals goals, int threads = 1) {
  const Figures f = measure(problem, threads);
  const auto errors = problem.sizes().n <= kTileErrorsUpTo ? problem.errors()
                                                           : AttentionProblem::Errors{-1.0, -1.0};
  const auto add = [&](const char* direction, double rate, double goal, double error) {
    report.add({group, name + direction, threads, rate / f.peak, goal,
                fmt::format("{:.1f} GF/s", rate), fmt::format("{:.1f} GF/s oneDNN", f.peak),
                error});
  };
  add(" forward", f.forward, goals.forward, errors.forward);
  add(" backward", f.backward, goals.backward, errors.backward);
  return f;
}

std::string size_name(const AttentionSizes& s) { return fmt::format("n {} d {}", s.n, s.d); }

AttentionSizes sizes_of(std::int64_t n, std::int64_t d) { return {n, d, heads_for(n)}; }

void open(Report& report) {
  for (const std::int64_t d : {32, 64, 128}) {
    for (const std::int64_t n : {512, 2048, 8192}) {
      const AttentionSizes s = sizes_of(n, d);
      report_peak(report, "no mask", size_name(s), {s, plain, all_pairs(n)},
                  {d == 32 ? 0.88 : 0.92, 0.92});
    }
    const AttentionSizes s = sizes_of(2048, d);
    report_peak(report, "padding to 2048 of 1500", size_name(s),
                {s, masked(key_lengths({1500})), 2048.0 * 1500.0}, {d == 32 ? 0.88 : 0.92, 0.92});
  }
}

void causal_and_window(Report& report) {
  for (const std::int64_t d : {32, 64, 128}) {
    for (const std::int64_t n : {128, 512, 2048, 8192}) {
      const AttentionSizes s = sizes_of(n, d);
      const double goal = n == 128 ? 0.70 : n == 512 ? 0.85 : 0.90;
      report_peak(report, "causal", size_name(s), {s, masked(causal()), causal_pairs(n)},
                  {goal, goal});
    }
  }
  for (const std::int64_t d : {32, 64, 128}) {
    for (const std::int64_t n : {2048, 8192}) {
      const AttentionSizes s = sizes_of(n, d);
      report_peak(report, "window 256", size_name(s),
                  {s, masked(window(255, 0)), window_pairs(n, 255)}, {0.76, 0.80});
    }
  }
}

AttentionSpec shaw(const AttentionSizes& s, Learned& learned) {
  return {.modifiers = {shaw_keys(learned({33, s.d}))},
          .reweights = {shaw_values(learned({33, s.d}))}};
}

void stages(Report& report) {
  for (const std::int64_t d : {64, 128}) {
    for (const std::int64_t n : {512, 2048}) {
      const AttentionSizes s = sizes_of(n, d);
      report_peak(report, "learned dense bias and its gradient", size_name(s),
                  {s, biased, all_pairs(n)}, {0.82, 0.85});
    }
  }
  for (const std::int64_t n : {512, 2048}) {
    const AttentionSizes s = sizes_of(n, 64);
    report_peak(report, "Shaw keys and values, clip 16", size_name(s), {s, shaw, all_pairs(n)},
                {0.70, 0.70});
  }
  for (const std::int64_t n : {512, 2048}) {
    const AttentionSizes s = sizes_of(n, 64);
    report_peak(report, "dropout 0.1", size_name(s), {s, dropped, all_pairs(n)}, {0.85, 0.85});
  }
}

// Sequences of about 300, one after another.
Tensor documents(std::int64_t n) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) ids[static_cast<std::size_t>(i)] = i / 300;
  return from_values(std::span<const std::int64_t>(ids), {1, n});
}

double document_pairs(std::int64_t n) {
  double pairs = 0.0;
  for (std::int64_t from = 0; from < n; from += 300) {
    pairs += all_pairs(std::min<std::int64_t>(300, n - from));
  }
  return pairs;
}

AttentionSpec with_lambda(const AttentionSizes&, Learned&) {
  return {.modifiers = {score_mod([](auto score, int, int, int i, int j) {
            return score - 0.1f * static_cast<float>(i > j ? i - j : j - i);
          })}};
}

AttentionSpec observed(const AttentionSizes&, Learned&) {
  static Tensor seen;  // [1, 1, n, n]
  return {.observers = {observe_weights(seen, {.heads = {0}})}};
}

// The cost of a stage, against the same sizes without it.
void against_plain(Report& report) {
  const std::int64_t n = 2048;
  const AttentionSizes s = sizes_of(n, 64);
  AttentionSizes by10 = s, by100 = s;
  by10.q_scale = 10.0f;
  by100.q_scale = 100.0f;
  AttentionSizes of_eight = s;
  of_eight.heads = 8;
  struct Case {
    const char* name;
    AttentionProblem problem;
    double goal;
    bool both = true;  // directions
  };
  const auto slopes = [](const AttentionSizes& sizes, Learned& learned) {
    return AttentionSpec{.modifiers = {alibi(learned({sizes.heads}))}};
  };
  const auto buckets = [](const AttentionSizes& sizes, Learned& learned) {
    return AttentionSpec{.modifiers = {t5_bias(learned({32, sizes.heads}))}};
  };
  const auto capped = [](const AttentionSizes&, Learned&) {
    return AttentionSpec{.modifiers = {soft_cap(20.0)}};
  };
  Case cases[] = {
      {"ALiBi, learned", {s, slopes, all_pairs(n)}, 0.88},
      {"T5 buckets, learned", {s, buckets, all_pairs(n)}, 0.88},
      {"soft-cap 20", {s, capped, all_pairs(n)}, 0.88},
      {"documents of 300", {s, masked(segments(documents(n))), document_pairs(n)}, 0.88},
      {"lambda: score - 0.1 |i - j|", {s, with_lambda, all_pairs(n)}, 0.88},
      {"queries x10", {by10, plain, all_pairs(n)}, 0.97},
      {"queries x100", {by100, plain, all_pairs(n)}, 0.90},
      {"one head of eight observed", {of_eight, observed, all_pairs(n)}, 0.90, false},
  };
  for (Case& c : cases) {
    AttentionSizes same = c.problem.sizes();
    same.q_scale = 1.0f;
    AttentionProblem without(same, plain, all_pairs(n));
    const Figures base = measure(without, 1), f = measure(c.problem, 1);
    const auto errors = c.problem.errors();
    const auto add = [&](const char* direction, double rate, double yardstick, double error) {
      report.add({"against no stage, n 2048 d 64", std::string(c.name) + direction, 1,
                  rate / yardstick, c.goal, fmt::format("{:.1f} GF/s", rate),
                  fmt::format("{:.1f} GF/s without", yardstick), error});
    };
    add(" forward", f.forward, base.forward, errors.forward);
    if (c.both) add(" backward", f.backward, base.backward, errors.backward);
  }
}

void forced_avx2(Report& report) {
  const auto isas = available_isas();
  if (std::find(isas.begin(), isas.end(), Isa::avx2) == isas.end()) return;
  const Isa before = current_isa();
  set_isa(Isa::avx2);
  for (const std::int64_t n : {512, 2048}) {
    const AttentionSizes s = sizes_of(n, 64);
    report_peak(report, "AVX2 forced", size_name(s), {s, plain, all_pairs(n)}, {0.85, 0.90});
  }
  set_isa(before);
}

void two_threads(Report& report) {
  for (const std::int64_t d : {32, 64, 128}) {
    const AttentionSizes s = sizes_of(2048, d);
    report_peak(report, "two threads", size_name(s), {s, plain, all_pairs(2048)}, {0.90, 0.90}, 2);
    report_peak(report, "two threads", size_name(s) + " causal",
                {s, masked(causal()), causal_pairs(2048)}, {0.90, 0.90}, 2);
  }
  const AttentionSizes s = sizes_of(8192, 64);
  report_peak(report, "two threads", size_name(s) + " one head", {s, plain, all_pairs(8192)},
              {0.90, 0.90}, 2);
}

}  // namespace

void attention_tiles(Report& report) {
  open(report);
  causal_and_window(report);
  stages(report);
  against_plain(report);
  forced_avx2(report);
  two_threads(report);
}

}  // namespace heed::bench
