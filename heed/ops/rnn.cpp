#include "heed/ops/rnn.h"

#include "heed/autograd/tape.h"
#include "heed/kernels/recurrent.h"
#include "heed/ops/matmul.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

template <typename T>
const T* data_if_defined(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

Tensor packed(const Tensor& x) { return x.defined() ? contiguous_copy(x) : Tensor(); }

void check_arguments(const char* op, std::int64_t gates, const Tensor& x, const RnnWeights& w,
                     const RnnOptions& o) {
  HEED_CHECK(x.rank() == 3, "[{}] x {}: it must be [B, T, I]", op, to_string(x.shape()));
  HEED_CHECK(w.w_hh.rank() == 2 && w.w_hh.size(0) == gates * w.w_hh.size(1),
             "[{}] w_hh {}: it must be [{} * H, H]", op, to_string(w.w_hh.shape()), gates);
  HEED_CHECK(w.w_ih.rank() == 2 && w.w_ih.size(0) == w.w_hh.size(0) && w.w_ih.size(1) == x.size(2),
             "[{}] w_ih {}: it must be [{}, {}] for x {}", op, to_string(w.w_ih.shape()),
             w.w_hh.size(0), x.size(2), to_string(x.shape()));
  HEED_CHECK(!w.b_hh.defined() || (w.b_hh.rank() == 1 && w.b_hh.size(0) == w.w_hh.size(0)),
             "[{}] b_hh {}: it must be [{}]", op, to_string(w.b_hh.shape()), w.w_hh.size(0));
  const Shape state{x.size(0), w.w_hh.size(1)};
  for (const Tensor& s : {o.initial_state, o.initial_cell}) {
    HEED_CHECK(!s.defined() || (s.shape() == state && s.dtype() == x.dtype()),
               "[{}] an initial state is {} {}: it must be {} {}", op, name_of(s.dtype()),
               to_string(s.shape()), name_of(x.dtype()), to_string(state));
  }
  HEED_CHECK(w.w_hh.dtype() == x.dtype(), "[{}] x is {}, w_hh {}: cast one of them", op,
             name_of(x.dtype()), name_of(w.w_hh.dtype()));
  if (!o.lengths.defined()) return;
  HEED_CHECK(
      o.lengths.dtype() == DType::i64 && o.lengths.rank() == 1 && o.lengths.size(0) == x.size(0),
      "[{}] lengths {} {}: it must be i64 [{}]", op, name_of(o.lengths.dtype()),
      to_string(o.lengths.shape()), x.size(0));
  const Tensor lengths = contiguous_copy(o.lengths);
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    const std::int64_t length = lengths.data<std::int64_t>()[b];
    HEED_CHECK(length >= 0 && length <= x.size(1),
               "[{}] lengths[{}] is {}: it must be from 0 to T = {}", op, b, length, x.size(1));
  }
}

// What the kernel reads apart from the gates: sizes, lengths, recurrent weights and initial states.
// Kept for the backward pass.
struct Recurrence {
  std::int64_t batch, time, hidden;
  Tensor weight, bias, initial, initial_cell, lengths;
  bool reverse;

  template <typename T>
  kernels::RecurrentCall<T> call() const {
    return {.batch = batch,
            .time = time,
            .hidden = hidden,
            .lengths = data_if_defined<std::int64_t>(lengths),
            .reverse = reverse,
            .weight = weight.data<T>(),
            .bias = data_if_defined<T>(bias),
            .initial = data_if_defined<T>(initial),
            .initial_cell = data_if_defined<T>(initial_cell)};
  }
};

// Gradients of the recurrence. The inputs of the node are gates, w_hh, b_hh, initial state and
// initial cell.
template <typename Cell, typename T>
void recurrence_backward(Backward& b, const Recurrence& r, const Tensor& output,
                         const Tensor& saved) {
  const DType dtype = output.dtype();
  const Shape wide{r.batch, r.time, Cell::kGates * r.hidden};
  constexpr bool kLstm = std::is_same_v<Cell, kernels::Lstm>;
  Tensor d_gates = empty(wide, dtype);                               // [B, T, gates * H]
  Tensor d_hidden = kLstm ? d_gates : empty(wide, dtype);            // [B, T, gates * H]
  Tensor previous = empty({r.batch, r.time, r.hidden}, dtype);       // [B, T, H]
  Tensor d_initial = empty({r.batch, r.hidden}, dtype);              // [B, H]
  Tensor d_initial_cell = kLstm ? empty_like(d_initial) : Tensor();  // [B, H]
  const Tensor d_output = contiguous_copy(b.dy(0));                  // [B, T, H]
  const Tensor d_state = b.arrived(1) ? contiguous_copy(b.dy(1)) : Tensor();
  const Tensor d_cell = kLstm && b.arrived(2) ? contiguous_copy(b.dy(2)) : Tensor();
  kernels::recurrent_backward<Cell, T>(
      r.call<T>(), {.output = output.data<T>(),
                    .saved = saved.data<T>(),
                    .d_output = d_output.data<T>(),
                    .d_state = data_if_defined<T>(d_state),
                    .d_cell = data_if_defined<T>(d_cell),
                    .d_gates = d_gates.mutable_data<T>(),
                    .d_hidden_gates = d_hidden.mutable_data<T>(),
                    .previous = previous.mutable_data<T>(),
                    .d_initial = d_initial.mutable_data<T>(),
                    .d_initial_cell = kLstm ? d_initial_cell.mutable_data<T>() : nullptr});
  b.add(0, d_gates);
  const Tensor flat = view::reshape(d_hidden, {-1, wide[2]});
  if (b.needs(1))
    b.add(1, matmul(view::transpose(flat, 0, 1), view::reshape(previous, {-1, r.hidden})));
  if (b.needs(2)) b.add(2, flat);
  if (b.needs(3)) b.add(3, d_initial);
  if (kLstm && b.needs(4)) b.add(4, d_initial_cell);
}

template <typename Cell>
RnnResult run(const char* op, const Tensor& x, const RnnWeights& w, const RnnOptions& o) {
  check_arguments(op, Cell::kGates, x, w, o);
  constexpr bool kLstm = std::is_same_v<Cell, kernels::Lstm>;
  const Tensor gates = linear(x, w.w_ih, {.bias = w.b_ih});  // [B, T, gates * H]
  const Recurrence r{x.size(0),
                     x.size(1),
                     w.w_hh.size(1),
                     packed(w.w_hh),
                     packed(w.b_hh),
                     packed(o.initial_state),
                     kLstm ? packed(o.initial_cell) : Tensor(),
                     packed(o.lengths),
                     o.reverse};
  RnnResult y{empty({r.batch, r.time, r.hidden}, x.dtype()), empty({r.batch, r.hidden}, x.dtype()),
              kLstm ? empty({r.batch, r.hidden}, x.dtype()) : Tensor()};
  Tensor saved = empty({r.batch, r.time, Cell::kSaved * r.hidden}, x.dtype());
  visit_float(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::recurrent_forward<Cell, T>(r.call<T>(),
                                        {.gates = gates.data<T>(),
                                         .output = y.output.mutable_data<T>(),
                                         .state = y.state.mutable_data<T>(),
                                         .cell = kLstm ? y.cell.mutable_data<T>() : nullptr,
                                         .saved = saved.mutable_data<T>()});
    const auto backward = [r, saved, output = y.output](Backward& b) {
      recurrence_backward<Cell, T>(b, r, output, saved);
    };
    if constexpr (kLstm) {
      record_all(op, {gates, w.w_hh, w.b_hh, o.initial_state, o.initial_cell},
                 {&y.output, &y.state, &y.cell}, backward);
    } else {
      record_all(op, {gates, w.w_hh, w.b_hh, o.initial_state}, {&y.output, &y.state}, backward);
    }
  });
  return y;
}

void check_step(const char* op, std::int64_t gates, const RnnStepInput& in, bool has_cell) {
  HEED_CHECK(in.state.rank() == 2, "[{}] state {}: it must be [B, H]", op,
             to_string(in.state.shape()));
  const Shape wide{in.state.size(0), gates * in.state.size(1)};
  HEED_CHECK(in.gates.shape() == wide && in.hidden_gates.shape() == wide,
             "[{}] gates {} and hidden_gates {}: for state {} both must be {}", op,
             to_string(in.gates.shape()), to_string(in.hidden_gates.shape()),
             to_string(in.state.shape()), to_string(wide));
  HEED_CHECK(!has_cell || (in.cell.defined() && in.cell.shape() == in.state.shape()),
             "[{}] cell {}: it must be {}, as the state", op,
             in.cell.defined() ? to_string(in.cell.shape()) : "undefined",
             to_string(in.state.shape()));
}

// The inputs of the node are gates, hidden_gates, state and cell.
template <typename Cell, typename T>
void step_backward(Backward& b, const RnnStepInput& in, const Tensor& saved) {
  constexpr bool kLstm = std::is_same_v<Cell, kernels::Lstm>;
  Tensor d_gates = empty(in.gates.shape(), in.gates.dtype());  // [B, gates * H]
  Tensor d_hidden = kLstm ? d_gates : empty_like(d_gates);     // [B, gates * H]
  Tensor d_state = clone_data(b.dy(0));                        // [B, H]
  Tensor d_cell = kLstm ? clone_data(b.dy(1)) : Tensor();      // [B, H]
  kernels::cell_backward<Cell, T>({.batch = in.state.size(0),
                                   .hidden = in.state.size(1),
                                   .saved = saved.data<T>(),
                                   .previous_state = in.state.data<T>(),
                                   .previous_cell = data_if_defined<T>(in.cell),
                                   .d_state = d_state.mutable_data<T>(),
                                   .d_cell = kLstm ? d_cell.mutable_data<T>() : nullptr,
                                   .d_gates = d_gates.mutable_data<T>(),
                                   .d_hidden_gates = d_hidden.mutable_data<T>()});
  b.add(0, d_gates);
  b.add(1, d_hidden);
  b.add(2, d_state);
  if (kLstm) b.add(3, d_cell);
}

template <typename Cell>
RnnStep run_step(const char* op, const RnnStepInput& in) {
  constexpr bool kLstm = std::is_same_v<Cell, kernels::Lstm>;
  check_step(op, Cell::kGates, in, kLstm);
  const RnnStepInput packed_in{packed(in.gates), packed(in.hidden_gates), packed(in.state),
                               packed(in.cell)};
  RnnStep y{clone_data(in.state), kLstm ? clone_data(in.cell) : Tensor()};
  Tensor saved =
      empty({in.state.size(0), Cell::kSaved * in.state.size(1)}, in.state.dtype());  // [B, …]
  visit_float(op, in.state.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::cell_forward<Cell, T>({.batch = in.state.size(0),
                                    .hidden = in.state.size(1),
                                    .gates = packed_in.gates.data<T>(),
                                    .hidden_gates = packed_in.hidden_gates.data<T>(),
                                    .state = y.state.mutable_data<T>(),
                                    .cell = kLstm ? y.cell.mutable_data<T>() : nullptr,
                                    .saved = saved.mutable_data<T>()});
    const auto backward = [packed_in, saved](Backward& b) {
      step_backward<Cell, T>(b, packed_in, saved);
    };
    if constexpr (kLstm) {
      record_all(op, {in.gates, in.hidden_gates, in.state, in.cell}, {&y.state, &y.cell}, backward);
    } else {
      record_all(op, {in.gates, in.hidden_gates, in.state}, {&y.state}, backward);
    }
  });
  return y;
}

}  // namespace

RnnStep gru_step(const RnnStepInput& in) { return run_step<kernels::Gru>("gru_step", in); }
RnnStep lstm_step(const RnnStepInput& in) { return run_step<kernels::Lstm>("lstm_step", in); }

RnnResult gru(const Tensor& x, const RnnWeights& weights, const RnnOptions& options) {
  return run<kernels::Gru>("gru", x, weights, options);
}

RnnResult lstm(const Tensor& x, const RnnWeights& weights, const RnnOptions& options) {
  return run<kernels::Lstm>("lstm", x, weights, options);
}

}  // namespace heed
