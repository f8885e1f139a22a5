// Recurrent layers: GRU (Cho et al. 2014) and LSTM (Hochreiter and Schmidhuber 1997) over whole
// sequences, with several layers, one or two directions and sequences of different lengths. Each
// layer and direction is one fused call (ops/rnn.h). RecurrentSteps goes step by step.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "heed/base/random.h"
#include "heed/io/codec.h"
#include "heed/nn/dropout.h"
#include "heed/nn/weight.h"
#include "heed/ops/repeated_linear.h"
#include "heed/ops/rnn.h"

namespace heed {

/// The kinds of recurrent layers.
enum class Cell : std::uint8_t { gru, lstm };

/// The names that configs use.
constexpr std::array<io::EnumName<Cell>, 2> enum_names(Cell) {
  return {{{Cell::gru, "gru"}, {Cell::lstm, "lstm"}}};
}

/// Options of Gru and Lstm.
struct RecurrentConfig {
  std::int64_t input = 0;
  std::int64_t hidden = 0;
  std::int64_t layers = 1;
  bool bidirectional = false;
  bool reverse = false;  // one direction: from the last step of each sequence to its first
  bool bias = true;
  double dropout = 0.0;  // on the outputs of every layer but the last
};

/// Parameters of one layer and direction.
struct RecurrentWeights {
  Weight w_ih;       // [gates * H, I]
  Weight w_hh;       // [gates * H, H]
  Tensor b_ih = {};  // [gates * H], or undefined
  Tensor b_hh = {};  // [gates * H], or undefined

  bool is_packed() const { return w_hh.packed != nullptr; }
  /// The share of inputs […, I] in the gates: W_ih x + b_ih, […, gates * H].
  Tensor input_gates(const Tensor& x) const { return w_ih.product(x, {.bias = b_ih}); }
  /// The share of states […, H] in the gates: W_hh h + b_hh, […, gates * H].
  Tensor hidden_gates(const Tensor& h) const { return w_hh.product(h, {.bias = b_hh}); }
};

/// Initial states and sequence lengths of a call.
struct RecurrentStart {
  Tensor state = {};    // [layers * directions, B, H], direction fastest; undefined: 0
  Tensor cell = {};     // the same, LSTM only
  Tensor lengths = {};  // i64 [B]; undefined: every sequence has T steps
};

/// Outputs and final states of a call.
struct RecurrentResult {
  Tensor output;  // [B, T, directions * H] of the last layer; 0 after the end of a sequence
  Tensor state;   // [layers * directions, B, H] after the last step of each sequence
  Tensor cell;    // the same, LSTM only
};

/// The base class of Gru and Lstm. Parameters are named as in PyTorch: "weight_ih_l0",
/// "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", the same with "_reverse", then layer 1 and so on.
class Recurrent : public Module {
 public:
  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, input] -> outputs and last states.
  RecurrentResult operator()(const Tensor& x, const RecurrentStart& start = {}) const;
  const RecurrentConfig& config() const { return config_; }

  std::vector<RecurrentWeights> weights;  // one per layer and direction, direction fastest

 protected:
  using Op = RnnResult (*)(const Tensor& x, const RnnWeights& weights, const RnnOptions& options);
  using StepOp = RnnStep (*)(const RnnStepInput& in);
  /// An op, its number of gates, and the name of the layer in messages.
  struct Kind {
    const char* name;
    std::int64_t gates;
    bool has_cell;
    Op op;
    StepOp step;
  };
  Recurrent(const Kind& kind, const RecurrentConfig& config, Generator& generator);

 private:
  friend class RecurrentSteps;
  std::int64_t directions() const { return config_.bidirectional ? 2 : 1; }
  void check_start(const Tensor& x, const Tensor& state) const;
  RnnResult run(const Tensor& x, const RecurrentWeights& w, const RnnOptions& options) const;
  RnnResult run_packed(const Tensor& x, const RecurrentWeights& w, const RnnOptions& options) const;

  Kind kind_;
  RecurrentConfig config_;
  Dropout dropout_;
};

/// Gated recurrent unit.
class Gru : public Recurrent {
 public:
  explicit Gru(const RecurrentConfig& config, Generator& generator = default_generator())
      : Recurrent({"gru", 3, false, gru, gru_step}, config, generator) {}
};

/// Long short-term memory.
class Lstm : public Recurrent {
 public:
  explicit Lstm(const RecurrentConfig& config, Generator& generator = default_generator())
      : Recurrent({"lstm", 4, true, lstm, lstm_step}, config, generator) {}
};

/// A layer of a kind.
std::unique_ptr<Recurrent> make_recurrent(Cell cell, const RecurrentConfig& config,
                                          Generator& generator = default_generator());

/// A recurrent stack of one direction that goes step by step, for decoders whose input depends on
/// the step before. The gradient of a matrix is one product over all steps. The stack must outlive
/// it.
class RecurrentSteps {
 public:
  /// Starts with states [layers, B, H].
  RecurrentSteps(const Recurrent& stack, const Tensor& state, const Tensor& cell = {});

  /// One step of all layers: `gates` [B, gates * H] is the share of the first layer's input,
  /// W_ih x + b_ih. Returns the new state of the last layer, [B, H].
  Tensor step(const Tensor& gates);
  /// The state of the last layer: [B, H].
  const Tensor& top() const { return state_.back().state; }
  /// Sequence i becomes what sequence from[i] was, for beams.
  void reorder(std::span<const std::int64_t> from);

 private:
  Tensor input_gates(std::size_t layer) const;
  Tensor hidden_gates(std::size_t layer) const;

  const Recurrent* stack_;
  std::vector<RepeatedLinear> input_;   // of every layer but the first; none if weights are packed
  std::vector<RepeatedLinear> hidden_;  // of every layer; none if weights are packed
  std::vector<RnnStep> state_;          // of every layer
};

}  // namespace heed
