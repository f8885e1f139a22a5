// One time step of one sequence of a recurrent layer: the arithmetic between two matrix products.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// One step forward. `hidden_share` is U h without bias; state and cell are updated in place.
template <typename T>
struct StepForward {
  const T* gates;
  const T* hidden_share;
  const T* bias;
  T* state;
  T* cell;
  T* saved;
};

/// One step backward. On entry d_state is the gradient of the new state; on return it is the direct
/// part of the gradient of the old state.
template <typename T>
struct StepBackward {
  const T* saved;
  const T* previous_state;
  const T* previous_cell;
  T* d_state;
  T* d_cell;
  T* d_gates;
  T* d_hidden_gates;
};

void gru_step(std::int64_t hidden, const StepForward<float>& s);
void gru_step(std::int64_t hidden, const StepForward<double>& s);
void gru_step_backward(std::int64_t hidden, const StepBackward<float>& s);
void gru_step_backward(std::int64_t hidden, const StepBackward<double>& s);
void lstm_step(std::int64_t hidden, const StepForward<float>& s);
void lstm_step(std::int64_t hidden, const StepForward<double>& s);
void lstm_step_backward(std::int64_t hidden, const StepBackward<float>& s);
void lstm_step_backward(std::int64_t hidden, const StepBackward<double>& s);

}  // namespace heed::kernels
