// One layer and direction of a recurrent network over whole sequences, fused and differentiable.
// Gate order, placement of biases and names of weights are as in PyTorch.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// Parameters of one layer and direction.
struct RnnWeights {
  Tensor w_ih;       // [gates * H, I]
  Tensor w_hh;       // [gates * H, H]
  Tensor b_ih = {};  // [gates * H], or undefined
  Tensor b_hh = {};  // [gates * H], or undefined
};

/// Options of gru and lstm.
struct RnnOptions {
  Tensor initial_state = {};  // [B, H]; undefined: 0
  Tensor initial_cell = {};   // [B, H], LSTM only; undefined: 0
  Tensor lengths = {};        // i64 [B]; undefined: every sequence has T steps
  bool reverse = false;       // from the last step of each sequence to its first
};

/// Outputs and final states of gru and lstm.
struct RnnResult {
  Tensor output;  // [B, T, H]; 0 after the end of a sequence
  Tensor state;   // [B, H] after the last computed step
  Tensor cell;    // [B, H], LSTM only
};

/// Gated recurrent unit: gates r, z, n.
RnnResult gru(const Tensor& x, const RnnWeights& weights, const RnnOptions& options = {});
/// Long short-term memory: gates i, f, g, o.
RnnResult lstm(const Tensor& x, const RnnWeights& weights, const RnnOptions& options = {});

/// What one step of a cell reads.
struct RnnStepInput {
  Tensor gates;         // [B, gates * H]: the input's share, with its bias
  Tensor hidden_gates;  // [B, gates * H]: the state's share, with its bias
  Tensor state;         // [B, H]
  Tensor cell = {};     // [B, H], LSTM only
};
/// The states after one step.
struct RnnStep {
  Tensor state;      // [B, H]
  Tensor cell = {};  // [B, H], LSTM only
};

/// One step of gru and lstm without their products: for decoders whose input depends on the step
/// before.
RnnStep gru_step(const RnnStepInput& in);
RnnStep lstm_step(const RnnStepInput& in);

}  // namespace heed
