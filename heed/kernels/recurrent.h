// Recurrent layers over a whole sequence: GRU (Cho et al. 2014, PyTorch's form) and LSTM
// (Hochreiter & Schmidhuber 1997). The input's share of the gates is computed before in one large
// product; this file computes what must be done step by step. Each cell has a fixed number of
// sequences and walks the time axis by itself, so no thread waits inside a sequence.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// Arguments of both forward and backward. Sequence b has lengths[b] steps (`time` steps without
/// lengths); `reverse` walks it from its last step to its first. Rows after the end of a sequence
/// are 0 in every output.
template <typename T>
struct RecurrentCall {
  std::int64_t batch, time, hidden;
  const std::int64_t* lengths = nullptr;  // [batch]
  bool reverse = false;
  const T* weight = nullptr;        // [gates * hidden, hidden]
  const T* bias = nullptr;          // [gates * hidden], or null
  const T* initial = nullptr;       // [batch, hidden], or null for 0
  const T* initial_cell = nullptr;  // [batch, hidden], LSTM only
};

/// Arguments of the forward pass.
template <typename T>
struct RecurrentForward {
  const T* gates;  // [batch, time, gates * hidden]: the input's share
  T* output;       // [batch, time, hidden]
  T* state;        // [batch, hidden], after the last step
  T* cell;         // [batch, hidden], LSTM only
  T* saved;        // [batch, time, kSaved * hidden] for backward
};

/// Arguments of the backward pass.
template <typename T>
struct RecurrentBackward {
  const T* output;    // as forward wrote it
  const T* saved;     // as forward wrote it
  const T* d_output;  // [batch, time, hidden]
  const T* d_state;   // [batch, hidden], or null
  const T* d_cell;    // [batch, hidden], LSTM only, or null
  T* d_gates;         // [batch, time, gates * hidden]: gradient of the input's share
  T* d_hidden_gates;  // the same for the hidden state's share; for LSTM it is d_gates
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

/// One step of all sequences between two matrix products, for callers that compute the products
/// themselves.
template <typename T>
struct CellForward {
  std::int64_t batch, hidden;
  const T* gates;         // [batch, gates * hidden]: the input's share
  const T* hidden_gates;  // [batch, gates * hidden]: the state's share, with its bias
  T* state;               // [batch, hidden], updated in place
  T* cell;                // [batch, hidden], LSTM only, updated in place
  T* saved;               // [batch, kSaved * hidden] for backward
};

/// The backward pass of CellForward.
template <typename T>
struct CellBackward {
  std::int64_t batch, hidden;
  const T* saved;           // as forward wrote it
  const T* previous_state;  // [batch, hidden]: before the step
  const T* previous_cell;   // [batch, hidden], LSTM only
  T* d_state;         // [batch, hidden]: of the new state; becomes the direct part of the old one's
  T* d_cell;          // [batch, hidden], LSTM only: of the new cell; becomes that of the old one
  T* d_gates;         // [batch, gates * hidden]
  T* d_hidden_gates;  // the same; for LSTM it is d_gates
};

/// Instantiated for Gru and Lstm in float and double.
template <typename Cell, typename T>
void cell_forward(const CellForward<T>& f);
template <typename Cell, typename T>
void cell_backward(const CellBackward<T>& b);
template <typename Cell, typename T>
void recurrent_forward(const RecurrentCall<T>& call, const RecurrentForward<T>& f);
template <typename Cell, typename T>
void recurrent_backward(const RecurrentCall<T>& call, const RecurrentBackward<T>& b);

}  // namespace heed::kernels
