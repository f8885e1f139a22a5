// Recurrent layers over a whole sequence: GRU (Cho et al. 2014, PyTorch's form) and LSTM
// (Hochreiter & Schmidhuber 1997). The input's share of the gates is computed beforehand in one
// large product; here is what must go step by step. The grid is a fixed number of sequences per
// cell, and a cell walks the time axis alone: no thread ever waits inside a sequence.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// What forward and backward share. Sequence b has lengths[b] steps (all of `time` without
/// lengths); `reverse` walks it from its last step to its first. Rows behind a sequence's end are 0
/// in every output.
template <typename T>
struct RecurrentCall {
  std::int64_t batch, time, hidden;
  const std::int64_t* lengths = nullptr;  // [batch]
  bool reverse = false;
  const T* weight = nullptr;        // [gates * hidden, hidden]
  const T* bias = nullptr;          // [gates * hidden], or none
  const T* initial = nullptr;       // [batch, hidden], or none for 0
  const T* initial_cell = nullptr;  // [batch, hidden], LSTM only
};

template <typename T>
struct RecurrentForward {
  const T* gates;  // [batch, time, gates * hidden]: the input's share
  T* output;       // [batch, time, hidden]
  T* state;        // [batch, hidden], after the last step
  T* cell;         // [batch, hidden], LSTM only
  T* saved;        // [batch, time, kSaved * hidden] for backward
};

template <typename T>
struct RecurrentBackward {
  const T* output;    // as forward wrote it
  const T* saved;     // as forward wrote it
  const T* d_output;  // [batch, time, hidden]
  const T* d_state;   // [batch, hidden], or none
  const T* d_cell;    // [batch, hidden], LSTM only, or none
  T* d_gates;         // [batch, time, gates * hidden]: gradient of the input's share
  T* d_hidden_gates;  // the same for the hidden state's share; for LSTM they are one, pass d_gates
  T* previous;   // [batch, time, hidden]: the state before each step, for the weight's gradient
  T* d_initial;  // [batch, hidden]
  T* d_initial_cell;  // [batch, hidden], LSTM only
};

/// Gates r, z, n: h' = (1 - z) n + z h, n = tanh(x_n + r (U_n h + b_n)).
struct Gru {
  static constexpr std::int64_t kGates = 3;
  static constexpr std::int64_t kSaved = 4;  // r, z, n, U_n h + b_n
};
/// Gates i, f, g, o: c' = f c + i g, h' = o tanh(c').
struct Lstm {
  static constexpr std::int64_t kGates = 4;
  static constexpr std::int64_t kSaved = 5;  // i, f, g, o, c'
};

/// Instantiated for Gru and Lstm in float and double.
template <typename Cell, typename T>
void recurrent_forward(const RecurrentCall<T>& call, const RecurrentForward<T>& f);
template <typename Cell, typename T>
void recurrent_backward(const RecurrentCall<T>& call, const RecurrentBackward<T>& b);

}  // namespace heed::kernels
