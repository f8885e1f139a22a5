// Whole training steps against PyTorch: zero_grad, forward, mean cross entropy, backward, AdamW on
// one fixed batch. The same networks, sizes and optimiser settings are in
// benchmarks/peer/core_cases.py.
#include <fmt/format.h>

#include <functional>

#include "benchmarks/suites.h"
#include "benchmarks/support/measure.h"
#include "benchmarks/support/peer.h"
#include "heed/nn/linear.h"
#include "heed/nn/rnn.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/training/optimizer.h"

namespace heed::bench {
namespace {

struct Mlp : Module {
  Linear first{{.in = 784, .out = 512, .activation = Activation::relu}};
  Linear second{{.in = 512, .out = 512, .activation = Activation::relu}};
  Linear scores{{.in = 512, .out = 10}};

  void visit(ParameterVisitor& v) override {
    v("first", first);
    v("second", second);
    v("scores", scores);
  }
  Tensor operator()(const Tensor& x) const { return scores(second(first(x))); }  // [B, 10]
};

template <typename Rnn>
struct LastStepClassifier : Module {
  Rnn rnn{{.input = 256, .hidden = 256}};
  Linear head{{.in = 256, .out = 10}};

  void visit(ParameterVisitor& v) override {
    v("rnn", rnn);
    v("head", head);
  }
  Tensor operator()(const Tensor& x) const {
    return head(select(rnn(x).output, 1, -1));
  }  // [B, 10]
};

template <typename Model>
class TrainingStep {
 public:
  explicit TrainingStep(const Shape& input)
      : x_(randn(input)),
        target_(zeros({input[0]}, DType::i64)),
        optimizer_(model_.named_parameters(), {.weight_decay = 0.01}) {
    for (std::int64_t i = 0; i < input[0]; ++i)
      target_.mutable_data<std::int64_t>()[i] = i * 7 % 10;
  }
  void operator()() {
    optimizer_.zero_grad();
    cross_entropy(model_(x_), target_).backward();
    optimizer_.step({.rate = 1e-3});
  }

 private:
  Model model_;
  Tensor x_, target_;
  AdamW optimizer_;
};

void compare(Report& report, Peer& peer, const char* name, double goal,
             const std::function<void()>& step) {
  for (const int threads : {1, 2}) {
    const Threads scope(threads);
    double ours = 1e30, theirs = 1e30;
    for (int round = 0; round < 5; ++round) {
      theirs = std::min(theirs, peer.best_seconds(name, threads, 15));
      ours = std::min(ours, best_of(step, 5));
    }
    report.add({"training steps against PyTorch (the faster of eager and compiled)", name, threads,
                theirs / ours, goal, fmt::format("{:.2f} ms", ours * 1e3),
                fmt::format("{:.2f} ms PyTorch", theirs * 1e3)});
  }
}

}  // namespace

void training_steps(Report& report) {
  auto peer = Peer::start("core_peer.py");
  if (!peer) {
    report.note(
        "\ntraining steps: skipped, there is no PyTorch to compare with (set HEED_PEER_PYTHON, or "
        "use ./run bench)");
    return;
  }
  report.note(fmt::format("\npeer: {}", peer->ask("versions")));
  TrainingStep<Mlp> mlp({64, 784});
  TrainingStep<LastStepClassifier<Gru>> gru({32, 50, 256});
  TrainingStep<LastStepClassifier<Lstm>> lstm({32, 50, 256});
  compare(report, *peer, "mlp", 2.0, std::ref(mlp));
  compare(report, *peer, "gru", 1.5, std::ref(gru));
  compare(report, *peer, "lstm", 1.0, std::ref(lstm));
}

}  // namespace heed::bench
