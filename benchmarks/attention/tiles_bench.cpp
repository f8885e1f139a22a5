// The fused kernels against the machine's arithmetic: useful operations a second, of visible pairs
// only, over those of oneDNN's sgemm in the same run.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "benchmarks/attention/problem.h"
#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "benchmarks/support/peak.h"
#include "heed/attention/masks/key_lengths.h"
#include "heed/attention/masks/segments.h"
#include "heed/attention/masks/window.h"
#include "heed/attention/stages/alibi.h"
#include "heed/attention/stages/dense_bias.h"
#include "heed/attention/stages/score_mod.h"
#include "heed/attention/stages/shaw.h"
#include "heed/attention/stages/soft_cap.h"
#include "heed/attention/stages/t5_bias.h"
#include "heed/attention/stages/weight_dropout.h"
#include "heed/tensor/create.h"

namespace heed::bench {
namespace {

// What each direction reached, and the peak beside it.
struct Figures {
  double forward = 0.0, backward = 0.0, peak = 0.0;
};

Figures measure(AttentionProblem& problem, int threads) {
  constexpr int kRounds = 9;
  constexpr double kLeast = 0.03;  // seconds a measurement lasts at least: caches are warm then
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

constexpr std::int64_t kErrorsUpTo = 2048;  // longer ones take double minutes

Figures report_peak(Report& report, const std::string& group, const std::string& name,
                    AttentionProblem problem, Goals goals, int threads = 1) {
  const Figures f = measure(problem, threads);
  const auto errors =
      problem.sizes.n <= kErrorsUpTo ? problem.errors() : AttentionProblem::Errors{-1.0, -1.0};
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
      report_peak(report, "no mask", size_name(s), {s, {}, all_pairs(n)},
                  {d == 32 ? 0.88 : 0.92, 0.92});
    }
    const AttentionSizes s = sizes_of(2048, d);
    report_peak(report, "padding to 2048 of 1500", size_name(s),
                {s, {.see = key_lengths({1500})}, 2048.0 * 1500.0}, {d == 32 ? 0.88 : 0.92, 0.92});
  }
}

void causal_and_window(Report& report) {
  for (const std::int64_t d : {32, 64, 128}) {
    for (const std::int64_t n : {128, 512, 2048, 8192}) {
      const AttentionSizes s = sizes_of(n, d);
      const double goal = n == 128 ? 0.70 : n == 512 ? 0.85 : 0.90;
      report_peak(report, "causal", size_name(s), {s, {.see = causal()}, causal_pairs(n)},
                  {goal, goal});
    }
  }
  for (const std::int64_t d : {32, 64, 128}) {
    for (const std::int64_t n : {2048, 8192}) {
      const AttentionSizes s = sizes_of(n, d);
      report_peak(report, "window 256", size_name(s),
                  {s, {.see = window(255, 0)}, window_pairs(n, 255)}, {0.76, 0.80});
    }
  }
}

void stages(Report& report) {
  for (const std::int64_t d : {64, 128}) {
    for (const std::int64_t n : {512, 2048}) {
      const AttentionSizes s = sizes_of(n, d);
      const Tensor bias = randn({1, s.heads, n, n}).requires_grad();
      report_peak(report, "learned dense bias and its gradient", size_name(s),
                  {s, {.modify = {dense_bias(bias)}}, all_pairs(n)}, {0.82, 0.85});
    }
  }
  for (const std::int64_t n : {512, 2048}) {
    const AttentionSizes s = sizes_of(n, 64);
    const Tensor keys = randn({33, 64}).requires_grad(), values = randn({33, 64}).requires_grad();
    report_peak(report, "Shaw keys and values, clip 16", size_name(s),
                {s, {.modify = {shaw_keys(keys)}, .reweight = {shaw_values(values)}}, all_pairs(n)},
                {0.70, 0.70});
    report_peak(report, "dropout 0.1", size_name(s),
                {s, {.reweight = {weight_dropout(0.1, 7)}}, all_pairs(n)}, {0.85, 0.85});
  }
}

// Sequences of about 300, one behind another.
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

// Against the same sizes without the stage: what a stage costs.
void against_plain(Report& report) {
  const std::int64_t n = 2048;
  const AttentionSizes s = sizes_of(n, 64);
  AttentionSizes by10 = s, by100 = s;
  by10.q_scale = 10.0f;
  by100.q_scale = 100.0f;
  const Tensor slopes = alibi_slopes(s.heads).requires_grad();
  const Tensor table = randn({32, s.heads}).requires_grad();
  struct Case {
    const char* name;
    AttentionProblem problem;
    double goal;
  };
  std::vector<Case> cases;
  cases.push_back({"ALiBi, learned", {s, {.modify = {alibi(slopes)}}, all_pairs(n)}, 0.88});
  cases.push_back({"T5 buckets, learned", {s, {.modify = {t5_bias(table)}}, all_pairs(n)}, 0.88});
  cases.push_back({"soft-cap 20", {s, {.modify = {soft_cap(20.0)}}, all_pairs(n)}, 0.88});
  cases.push_back(
      {"documents of 300", {s, {.see = segments(documents(n))}, document_pairs(n)}, 0.88});
  cases.push_back({"a lambda: score - 0.1 |i - j|",
                   {s,
                    {.modify = {score_mod([](auto score, int, int, int i, int j) {
                       return score - 0.1f * static_cast<float>(i > j ? i - j : j - i);
                     })}},
                    all_pairs(n)},
                   0.88});
  cases.push_back({"queries x10", {by10, {}, all_pairs(n)}, 0.97});
  cases.push_back({"queries x100", {by100, {}, all_pairs(n)}, 0.90});
  for (Case& c : cases) {
    AttentionProblem plain(s, {}, all_pairs(n));
    const Figures base = measure(plain, 1), f = measure(c.problem, 1);
    const auto errors = c.problem.errors();
    const auto add = [&](const char* direction, double rate, double yardstick, double error) {
      report.add({"against no stage, n 2048 d 64", std::string(c.name) + direction, 1,
                  rate / yardstick, c.goal, fmt::format("{:.1f} GF/s", rate),
                  fmt::format("{:.1f} GF/s without", yardstick), error});
    };
    add(" forward", f.forward, base.forward, errors.forward);
    add(" backward", f.backward, base.backward, errors.backward);
  }
}

void two_threads(Report& report) {
  for (const std::int64_t d : {32, 64, 128}) {
    const AttentionSizes s = sizes_of(2048, d);
    report_peak(report, "two threads", size_name(s), {s, {}, all_pairs(2048)}, {0.90, 0.90}, 2);
    report_peak(report, "two threads", size_name(s) + " causal",
                {s, {.see = causal()}, causal_pairs(2048)}, {0.90, 0.90}, 2);
  }
  const AttentionSizes s = sizes_of(8192, 64);
  report_peak(report, "two threads", size_name(s) + " one head", {s, {}, all_pairs(8192)},
              {0.90, 0.90}, 2);
}

}  // namespace

void attention_tiles(Report& report) {
  open(report);
  causal_and_window(report);
  stages(report);
  against_plain(report);
  two_threads(report);
}

}  // namespace heed::bench
