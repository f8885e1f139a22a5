// Whole training steps of whole models against PyTorch: forward, smoothed cross entropy, backward,
// clipping if the recipe has it, Adam. Same parameters, batches and threads, measured in turn.
// HEED_BENCH_MODEL=tiny measures only one model, HEED_BENCH_ALL=1 measures all of them on one
// thread too, HEED_BENCH_EAGER=1 leaves out the compiled models, whose compilation takes minutes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "benchmarks/models/corpus.h"
#include "benchmarks/models/peer_file.h"
#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "benchmarks/support/peak.h"
#include "benchmarks/support/peer.h"
#include "heed/base/error.h"

namespace heed::bench {
namespace {

constexpr double kSameLoss = 1e-4;   // relative to the loss
constexpr int kStepRepeats = 2;      // per round and side
constexpr double kMuchSlower = 1.3;  // a mode this much slower is not measured again

class Duel {
 public:
  Duel(Peer& peer, TrainedModel& model) : peer_(peer), model_(model), file_(model) {}

  // Checks that both sides compute the same function; returns the largest relative difference of
  // their losses.
  double check() {
    double worst = 0.0;
    for (std::int64_t i = 0; i < model_.batches(); ++i) {
      const double ours = model_.loss_in_use(i);
      const double theirs = std::stod(
          field(peer_.ask(fmt::format("loss file={} batch={}", file_.path(), i)), "loss"));
      worst = std::max(worst, std::abs(ours - theirs) / theirs);
    }
    HEED_CHECK(worst < kSameLoss, "[bench] the losses differ by {}: these are not the same models",
               worst);
    return worst;
  }

  struct Result {
    double ours = 0.0, eager = 0.0, compiled = 0.0;  // seconds of one step of every batch
    double theirs() const { return std::min(eager, compiled); }
  };

  // Each batch is measured separately; the sum is a step of every batch.
  Result run(int threads, int rounds) {
    Result sum;
    for (std::int64_t i = 0; i < model_.batches(); ++i) {
      const Result one = measure(i, threads, rounds);
      sum.ours += one.ours;
      sum.eager += one.eager;
      sum.compiled += one.compiled;
    }
    return sum;
  }

 private:
  Result measure(std::int64_t batch, int threads, int rounds) {
    const Threads use(threads);
    const auto step = [&] { model_.step(batch); };
    step();
    Result best{1e30, 1e30, 1e30};
    for (int round = 0; round < rounds; ++round) {
      if (best.eager <= kMuchSlower * best.compiled) ask(best.eager, "eager", batch, threads);
      if (compiles_ && (best.compiled <= kMuchSlower * best.eager || round == 0))
        ask(best.compiled, "compile", batch, threads);
      Peer::settle();
      for (int i = 0; i < kStepRepeats; ++i) best.ours = std::min(best.ours, seconds(step));
    }
    return best;
  }

  void ask(double& best, const char* mode, std::int64_t batch, int threads) {
    const std::string answer =
        peer_.ask(fmt::format("step file={} batch={} threads={} mode={} repeats={}", file_.path(),
                              batch, threads, mode, kStepRepeats));
    best = std::min(best, std::stod(field(answer, "best_us")) * 1e-6);
  }

  Peer& peer_;
  TrainedModel& model_;
  PeerFile file_;
  bool compiles_ = std::getenv("HEED_BENCH_EAGER") == nullptr;
};

void compare(Report& report, Peer& peer, const ModelCase& item) {
  const auto model = item.make();
  std::int64_t tokens = 0;
  for (std::int64_t i = 0; i < model->batches(); ++i) tokens += model->tokens(i);
  Duel duel(peer, *model);
  const double difference = duel.check();
  for (const int threads : threads_of(item)) {
    const Duel::Result result = duel.run(threads, item.rounds);
    const auto rate = [&](double time) {
      return fmt::format("{:.0f} {}/s", static_cast<double>(tokens) / time, model->unit());
    };
    report.add({fmt::format("training steps against PyTorch (the faster of eager and compiled){}",
                            counts_cpu_time() ? ", CPU time" : ""),
                std::string(item.title), threads, result.theirs() / result.ours, item.goal,
                rate(result.ours),
                fmt::format("{} PyTorch, {}", rate(result.theirs()),
                            result.eager <= result.compiled ? "eager" : "compiled"),
                difference});
  }
}

}  // namespace

void model_steps(Report& report) {
  auto peer = Peer::start("models_peer.py");
  if (!peer) {
    report.note(
        "\ntraining steps: skipped, there is no PyTorch to compare with (set HEED_PEER_PYTHON, or "
        "use ./run bench)");
    return;
  }
  report.note(fmt::format("\npeer: {}; {}; the error is of the loss, against PyTorch's",
                          peer->ask("versions"), lengths_source()));
  for (const int threads : {1, 2}) {
    double best = 0.0;
    for (int i = 0; i < 7; ++i) best = std::max(best, sgemm_gflops(threads));
    report.note(fmt::format("oneDNN sgemm on {} threads: {:.1f} GF/s", threads, best));
  }
  for (const ModelCase& item : model_cases()) compare(report, *peer, item);
}

}  // namespace heed::bench
