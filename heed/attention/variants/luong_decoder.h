// A recurrent decoder that attends to its encoder's states (Luong et al. 2015), with input feeding:
// the attentional vector of one step is an input of the next step, so that a step knows the earlier
// attention:
//   h_t = cell([y_t; a_{t-1}], h_{t-1}),  c_t = attention(h_t, memory),  a_t = tanh(W_c [c_t;
//   h_t]).
// It has no embedding and no vocabulary: inputs and outputs are vectors.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/attention/choice.h"
#include "heed/nn/linear.h"
#include "heed/nn/rnn.h"

namespace heed {

struct LuongDecoderConfig {
  std::int64_t embed = 64;  // size of inputs, memory, states and results
  Cell cell = Cell::lstm;
  std::int64_t layers = 1;
  double dropout = 0.0;       // between layers of the cell
  bool input_feeding = true;  // if false, a step does not read a_{t-1}
  AttentionChoice attention = "global score=general";

  void fields(io::Fields& field);
};

/// Parameters "cell", "attention" and "combine" (W_c).
class LuongDecoder : public Module {
 public:
  using Config = LuongDecoderConfig;
  explicit LuongDecoder(const Config& config, Generator& generator = default_generator());

  /// The start of decoding.
  struct Start {
    Tensor memory;        ///< The encoder's states: [B, Tk, E].
    Tensor lengths = {};  ///< i64 [B]: valid positions of the memory; undefined: all.
    Tensor state = {};    ///< Initial state of the cell, [layers, B, E]; undefined: 0.
    Tensor cell = {};     ///< The same for the cells of an LSTM.
  };
  /// The state of decoding.
  class State {
   public:
    /// Sequence i becomes what sequence from[i] was, for beams.
    void reorder(std::span<const std::int64_t> from);

   private:
    friend class LuongDecoder;
    RecurrentStart recurrent_;
    Tensor fed_;  // a_{t-1}: [B, 1, E]
    std::unique_ptr<DecodeState> attention_;
  };

  void visit(ParameterVisitor& visitor) override;
  /// Teacher forcing: the inputs y [B, T, E] -> attentional vectors [B, T, E].
  Tensor operator()(const Tensor& y, const Start& start) const;
  /// Decoding step by step.
  State start(const Start& start) const;
  /// The next inputs [B, T, E] -> [B, T, E]. Throws if a gradient is needed and the steps of the
  /// attention have none.
  Tensor step(const Tensor& y, State& state) const;

  std::unique_ptr<Recurrent> cell;
  std::unique_ptr<AttentionLayer> attention;
  Linear combine;

 private:
  Tensor attentional(const Tensor& context, const Tensor& h) const;
  Tensor step_once(const Tensor& y, State& state) const;

  Config config_;
};

}  // namespace heed
