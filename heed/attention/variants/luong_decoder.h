// A recurrent decoder that attends to its encoder's states (Luong et al. 2015), with input feeding:
// the attentional vector of one step goes into the next, so that a step knows what was attended to
// before:
//   h_t = cell([y_t; a_{t-1}], h_{t-1}),  c_t = attention(h_t, memory),  a_t = tanh(W_c [c_t;
//   h_t]).
// No embedding and no words: what comes in and goes out are vectors.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/attention/choice.h"
#include "heed/nn/linear.h"
#include "heed/nn/rnn.h"

namespace heed {

enum class Cell : std::uint8_t { gru, lstm };

/// The names that configs use.
constexpr std::array<io::EnumName<Cell>, 2> enum_names(Cell) {
  return {{{Cell::gru, "gru"}, {Cell::lstm, "lstm"}}};
}

struct LuongDecoderConfig {
  std::int64_t embed = 64;  // of inputs, memory, states and results
  Cell cell = Cell::lstm;
  std::int64_t layers = 1;
  double dropout = 0.0;       // between layers of the cell
  bool input_feeding = true;  // else a step knows nothing of a_{t-1}
  AttentionChoice attention = "global score=general";

  void fields(io::Fields& field);
};

/// Parameters "cell", "attention" and "combine" (W_c).
class LuongDecoder : public Module {
 public:
  using Config = LuongDecoderConfig;
  explicit LuongDecoder(const Config& config, Generator& generator = default_generator());

  /// What decoding starts from.
  struct Start {
    Tensor memory;        ///< The encoder's states: [B, Tk, E].
    Tensor lengths = {};  ///< i64 [B], of the memory; undefined: all of it.
    Tensor state = {};    ///< The cell's first state, [layers, B, E]; undefined: 0.
    Tensor cell = {};     ///< The same of LSTM's cells.
  };
  /// Where decoding stands.
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
  /// Step by step.
  State start(const Start& start) const;
  /// The next inputs [B, T, E] -> [B, T, E]. Throws if it is to have a gradient and the attention's
  /// steps have none.
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
