#include "heed/kernels/recurrent.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "heed/base/arena.h"
#include "heed/base/flops.h"
#include "heed/base/signal_block.h"
#include "heed/base/threads.h"
#include "heed/kernels/copy.h"
#include "heed/kernels/gemm.h"
#include "heed/kernels/recurrent_rows.h"

namespace heed::kernels {
namespace {

// Sequences per cell. With 16 rows oneDNN reaches 84 of 87 GF/s for 16x768x256 (Zen 4, AVX2), so
// more rows would only reduce the number of cells.
constexpr std::int64_t kSequences = 16;
// Padding of the rows of a weight matrix in scratch memory, so that columns do not fall into few
// cache sets.
constexpr std::int64_t kPadding = 16;

template <typename T>
std::int64_t length_of(const RecurrentCall<T>& call, std::int64_t b) {
  return call.lengths != nullptr ? call.lengths[b] : call.time;
}

// The position of step number `step` of sequence b on the time axis.
template <typename T>
std::int64_t time_of(const RecurrentCall<T>& call, std::int64_t b, std::int64_t step) {
  return call.reverse ? length_of(call, b) - 1 - step : step;
}

template <typename T>
void copy_row(const T* from, std::int64_t n, T* to) {
  if (from != nullptr) {
    std::copy_n(from, n, to);
  } else {
    std::fill_n(to, n, T{0});
  }
}

// weight [rows, columns], or transposed [columns, rows], copied with padded rows.
template <typename T>
Matrix<T> padded_weight(const T* weight, std::int64_t rows, std::int64_t columns, bool transposed,
                        T* to) {
  const std::int64_t leading = (transposed ? rows : columns) + kPadding;
  const Strides in{columns, 1};
  const Nest<2> nest = transposed
                           ? make_nest<2>({columns, rows}, {Strides{1, columns}, {leading, 1}})
                           : make_nest<2>({rows, columns}, {in, {leading, 1}});
  copy(nest, sizeof(T), weight, to);
  return {to, leading, 1};
}

template <typename Cell, typename T>
void step_forward(std::int64_t hidden, const StepForward<T>& s) {
  if constexpr (std::is_same_v<Cell, Gru>) {
    gru_step(hidden, s);
  } else {
    lstm_step(hidden, s);
  }
}

template <typename Cell, typename T>
void step_backward(std::int64_t hidden, const StepBackward<T>& s) {
  if constexpr (std::is_same_v<Cell, Gru>) {
    gru_step_backward(hidden, s);
  } else {
    lstm_step_backward(hidden, s);
  }
}

constexpr bool has_cell(Gru) { return false; }
constexpr bool has_cell(Lstm) { return true; }

// The sequences of one cell of the grid.
struct Block {
  std::int64_t first, rows, steps;
};

template <typename T>
Block block_of(const RecurrentCall<T>& call, std::int64_t cell) {
  Block block{cell * kSequences, std::min(kSequences, call.batch - cell * kSequences), 0};
  for (std::int64_t r = 0; r < block.rows; ++r) {
    block.steps = std::max(block.steps, length_of(call, block.first + r));
  }
  return block;
}

template <typename Cell, typename T>
void forward_block(const RecurrentCall<T>& call, const RecurrentForward<T>& f, const Block& block,
                   Matrix<T> weight, const T* bias) {
  const std::int64_t n = call.hidden;
  const std::int64_t width = Cell::kGates * n;
  const Scratch<T> share(block.rows * width);
  const Scratch<T> state(block.rows * n);
  const Scratch<T> memory(block.rows * n);
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const std::int64_t row = (block.first + r) * n;
    copy_row(call.initial != nullptr ? call.initial + row : nullptr, n, &state[r * n]);
    copy_row(call.initial_cell != nullptr ? call.initial_cell + row : nullptr, n, &memory[r * n]);
  }
  const SignalBlock all_steps;  // instead of once for each product
  for (std::int64_t step = 0; step < block.steps; ++step) {
    gemm_serial({block.rows, width, n}, Matrix<T>{state.data(), n, 1}, weight, T{0}, share.data(),
                width);
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const std::int64_t b = block.first + r;
      if (step >= length_of(call, b)) continue;
      const std::int64_t at = b * call.time + time_of(call, b, step);
      step_forward<Cell>(
          n, StepForward<T>{f.gates + at * width, &share[r * width], bias, &state[r * n],
                            &memory[r * n], f.saved + at * Cell::kSaved * n});
      std::copy_n(&state[r * n], n, f.output + at * n);
    }
  }
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const std::int64_t b = block.first + r;
    const std::int64_t end = b * call.time + length_of(call, b);
    std::fill(f.output + end * n, f.output + (b + 1) * call.time * n, T{0});
    std::copy_n(&state[r * n], n, f.state + b * n);
    if constexpr (has_cell(Cell{})) std::copy_n(&memory[r * n], n, f.cell + b * n);
  }
}

template <typename Cell, typename T>
void backward_block(const RecurrentCall<T>& call, const RecurrentBackward<T>& g, const Block& block,
                    Matrix<T> weight) {
  const std::int64_t n = call.hidden;
  const std::int64_t width = Cell::kGates * n;
  const Scratch<T> d_state(block.rows * n);
  const Scratch<T> d_cell(block.rows * n);
  const Scratch<T> d_share(block.rows * width);
  const Scratch<T> zeros(n);
  std::fill_n(zeros.data(), n, T{0});
  std::fill_n(d_share.data(), block.rows * width, T{0});
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const std::int64_t row = (block.first + r) * n;
    copy_row(g.d_state != nullptr ? g.d_state + row : nullptr, n, &d_state[r * n]);
    copy_row(g.d_cell != nullptr ? g.d_cell + row : nullptr, n, &d_cell[r * n]);
  }
  const SignalBlock all_steps;
  for (std::int64_t step = block.steps - 1; step >= 0; --step) {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const std::int64_t b = block.first + r;
      if (step >= length_of(call, b)) continue;  // its rows of d_share stay 0
      const std::int64_t at = b * call.time + time_of(call, b, step);
      const std::int64_t before = b * call.time + time_of(call, b, step - 1);
      const T* const initial = call.initial != nullptr ? call.initial + b * n : zeros.data();
      const T* const first_cell =
          call.initial_cell != nullptr ? call.initial_cell + b * n : zeros.data();
      const T* const old_cell = g.saved + (before * Cell::kSaved + Cell::kSaved - 1) * n;
      for (std::int64_t i = 0; i < n; ++i) d_state[r * n + i] += g.d_output[at * n + i];
      std::copy_n(step > 0 ? g.output + before * n : initial, n, g.previous + at * n);
      T* const d_hidden = g.d_hidden_gates + at * width;
      step_backward<Cell>(n, StepBackward<T>{g.saved + at * Cell::kSaved * n, g.previous + at * n,
                                             step > 0 ? old_cell : first_cell, &d_state[r * n],
                                             &d_cell[r * n], g.d_gates + at * width, d_hidden});
      std::copy_n(d_hidden, width, &d_share[r * width]);
    }
    gemm_serial({block.rows, n, width}, Matrix<T>{d_share.data(), width, 1}, weight, T{1},
                d_state.data(), n);
  }
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const std::int64_t b = block.first + r;
    const std::int64_t end = b * call.time + length_of(call, b);
    const std::int64_t last = (b + 1) * call.time;
    std::fill(g.d_gates + end * width, g.d_gates + last * width, T{0});
    std::fill(g.d_hidden_gates + end * width, g.d_hidden_gates + last * width, T{0});
    std::fill(g.previous + end * n, g.previous + last * n, T{0});
    std::copy_n(&d_state[r * n], n, g.d_initial + b * n);
    if constexpr (has_cell(Cell{})) std::copy_n(&d_cell[r * n], n, g.d_initial_cell + b * n);
  }
}

template <typename Cell, typename T>
std::int64_t cost_of(const RecurrentCall<T>& call) {
  return kSequences * call.time * Cell::kGates * call.hidden * call.hidden;
}

// Counts the operations of the hidden state's share of the gates, or of its gradient.
template <typename Cell, typename T>
void add_flops_of(const RecurrentCall<T>& call) {
  if (!counting_flops()) return;
  std::int64_t steps = 0;
  for (std::int64_t b = 0; b < call.batch; ++b) steps += length_of(call, b);
  add_flops(2 * steps * Cell::kGates * call.hidden * call.hidden);
}

// Calls `row` for every sequence, some at a time.
void for_rows(std::int64_t batch, std::int64_t cost, FunctionRef<void(std::int64_t)> row) {
  parallel_for((batch + kSequences - 1) / kSequences, kSequences * cost, [&](std::int64_t cell) {
    const std::int64_t end = std::min(batch, (cell + 1) * kSequences);
    for (std::int64_t b = cell * kSequences; b < end; ++b) row(b);
  });
}

// Operations of one unit of a cell, most of them in its exponentials.
constexpr std::int64_t kCellCost = 100;

}  // namespace

template <typename Cell, typename T>
void cell_forward(const CellForward<T>& f) {
  const std::int64_t n = f.hidden, width = Cell::kGates * n;
  const Scratch<T> no_bias(width);
  std::fill_n(no_bias.data(), width, T{0});
  for_rows(f.batch, kCellCost * n, [&](std::int64_t b) {
    step_forward<Cell>(
        n, StepForward<T>{f.gates + b * width, f.hidden_gates + b * width, no_bias.data(),
                          f.state + b * n, f.cell != nullptr ? f.cell + b * n : nullptr,
                          f.saved + b * Cell::kSaved * n});
  });
}

template <typename Cell, typename T>
void cell_backward(const CellBackward<T>& g) {
  const std::int64_t n = g.hidden, width = Cell::kGates * n;
  const auto row = [n](auto* of, std::int64_t b) { return of != nullptr ? of + b * n : nullptr; };
  for_rows(g.batch, kCellCost * n, [&](std::int64_t b) {
    step_backward<Cell>(
        n, StepBackward<T>{g.saved + b * Cell::kSaved * n, row(g.previous_state, b),
                           row(g.previous_cell, b), row(g.d_state, b), row(g.d_cell, b),
                           g.d_gates + b * width, g.d_hidden_gates + b * width});
  });
}

template <typename Cell, typename T>
void recurrent_forward(const RecurrentCall<T>& call, const RecurrentForward<T>& f) {
  add_flops_of<Cell>(call);
  const std::int64_t width = Cell::kGates * call.hidden;
  const Scratch<T> copied(call.hidden * (width + kPadding));
  const Matrix<T> weight = padded_weight(call.weight, width, call.hidden, true, copied.data());
  const Scratch<T> bias(width);
  copy_row(call.bias, width, bias.data());
  parallel_for((call.batch + kSequences - 1) / kSequences, cost_of<Cell>(call),
               [&](std::int64_t cell) {
                 forward_block<Cell>(call, f, block_of(call, cell), weight, bias.data());
               });
}

template <typename Cell, typename T>
void recurrent_backward(const RecurrentCall<T>& call, const RecurrentBackward<T>& b) {
  add_flops_of<Cell>(call);
  const std::int64_t width = Cell::kGates * call.hidden;
  const Scratch<T> copied(width * (call.hidden + kPadding));
  const Matrix<T> weight = padded_weight(call.weight, width, call.hidden, false, copied.data());
  parallel_for(
      (call.batch + kSequences - 1) / kSequences, cost_of<Cell>(call),
      [&](std::int64_t cell) { backward_block<Cell>(call, b, block_of(call, cell), weight); });
}

template void cell_forward<Gru>(const CellForward<float>&);
template void cell_forward<Gru>(const CellForward<double>&);
template void cell_forward<Lstm>(const CellForward<float>&);
template void cell_forward<Lstm>(const CellForward<double>&);
template void cell_backward<Gru>(const CellBackward<float>&);
template void cell_backward<Gru>(const CellBackward<double>&);
template void cell_backward<Lstm>(const CellBackward<float>&);
template void cell_backward<Lstm>(const CellBackward<double>&);
template void recurrent_forward<Gru>(const RecurrentCall<float>&, const RecurrentForward<float>&);
template void recurrent_forward<Gru>(const RecurrentCall<double>&, const RecurrentForward<double>&);
template void recurrent_forward<Lstm>(const RecurrentCall<float>&, const RecurrentForward<float>&);
template void recurrent_forward<Lstm>(const RecurrentCall<double>&,
                                      const RecurrentForward<double>&);
template void recurrent_backward<Gru>(const RecurrentCall<float>&, const RecurrentBackward<float>&);
template void recurrent_backward<Gru>(const RecurrentCall<double>&,
                                      const RecurrentBackward<double>&);
template void recurrent_backward<Lstm>(const RecurrentCall<float>&,
                                       const RecurrentBackward<float>&);
template void recurrent_backward<Lstm>(const RecurrentCall<double>&,
                                       const RecurrentBackward<double>&);

}  // namespace heed::kernels
