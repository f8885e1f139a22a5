// Plain double twins of the recurrent steps.
#pragma once

#include <cmath>

#include "heed/kernels/recurrent_rows.h"
#include "heed/kernels/reference/math.h"

namespace heed::kernels::reference {

inline void gru_step(std::int64_t n, const StepForward<double>& s) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double r = sigmoid(s.gates[i] + s.hidden_share[i] + s.bias[i]);
    const double z = sigmoid(s.gates[n + i] + s.hidden_share[n + i] + s.bias[n + i]);
    const double u = s.hidden_share[2 * n + i] + s.bias[2 * n + i];
    const double c = std::tanh(s.gates[2 * n + i] + r * u);
    s.saved[i] = r;
    s.saved[n + i] = z;
    s.saved[2 * n + i] = c;
    s.saved[3 * n + i] = u;
    s.state[i] = (1.0 - z) * c + z * s.state[i];
  }
}

inline void gru_step_backward(std::int64_t n, const StepBackward<double>& s) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double r = s.saved[i];
    const double z = s.saved[n + i];
    const double c = s.saved[2 * n + i];
    const double u = s.saved[3 * n + i];
    const double dh = s.d_state[i];
    const double dc = dh * (1.0 - z) * (1.0 - c * c);
    s.d_gates[i] = dc * u * r * (1.0 - r);
    s.d_gates[n + i] = dh * (s.previous_state[i] - c) * z * (1.0 - z);
    s.d_gates[2 * n + i] = dc;
    s.d_hidden_gates[i] = s.d_gates[i];
    s.d_hidden_gates[n + i] = s.d_gates[n + i];
    s.d_hidden_gates[2 * n + i] = dc * r;
    s.d_state[i] = dh * z;
  }
}

inline void lstm_step(std::int64_t n, const StepForward<double>& s) {
  for (std::int64_t k = 0; k < n; ++k) {
    const auto gate = [&](std::int64_t g) {
      return s.gates[g * n + k] + s.hidden_share[g * n + k] + s.bias[g * n + k];
    };
    const double i = sigmoid(gate(0));
    const double f = sigmoid(gate(1));
    const double g = std::tanh(gate(2));
    const double o = sigmoid(gate(3));
    const double c = f * s.cell[k] + i * g;
    s.saved[k] = i;
    s.saved[n + k] = f;
    s.saved[2 * n + k] = g;
    s.saved[3 * n + k] = o;
    s.saved[4 * n + k] = c;
    s.cell[k] = c;
    s.state[k] = o * std::tanh(c);
  }
}

inline void lstm_step_backward(std::int64_t n, const StepBackward<double>& s) {
  for (std::int64_t k = 0; k < n; ++k) {
    const double i = s.saved[k];
    const double f = s.saved[n + k];
    const double g = s.saved[2 * n + k];
    const double o = s.saved[3 * n + k];
    const double t = std::tanh(s.saved[4 * n + k]);
    const double dh = s.d_state[k];
    const double dc = s.d_cell[k] + dh * o * (1.0 - t * t);
    s.d_gates[k] = dc * g * i * (1.0 - i);
    s.d_gates[n + k] = dc * s.previous_cell[k] * f * (1.0 - f);
    s.d_gates[2 * n + k] = dc * i * (1.0 - g * g);
    s.d_gates[3 * n + k] = dh * t * o * (1.0 - o);
    s.d_cell[k] = dc * f;
    s.d_state[k] = 0.0;
  }
}

}  // namespace heed::kernels::reference
