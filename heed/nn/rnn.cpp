#include "heed/nn/rnn.h"

#include <cmath>

#include "heed/base/arena_vector.h"
#include "heed/nn/init.h"
#include "heed/ops/choose.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

Recurrent::Recurrent(const Kind& kind, const RecurrentConfig& config, Generator& generator)
    : kind_(kind), config_(config), dropout_({.p = config.dropout}) {
  HEED_CHECK(config.input > 0 && config.hidden > 0 && config.layers > 0,
             "[{}] input {}, hidden {}, layers {}: all are required and must be positive",
             kind.name, config.input, config.hidden, config.layers);
  HEED_CHECK(!config.reverse || !config.bidirectional,
             "[{}] reverse and bidirectional: two directions read both ways; leave one out",
             kind.name);
  // PyTorch draws all parameters from this range.
  const double range = 1.0 / std::sqrt(static_cast<double>(config.hidden));
  const auto parameter = [&](const Shape& shape) {
    Tensor x = empty(shape);
    init::uniform(x, -range, range, generator);
    return x.requires_grad();
  };
  const std::int64_t rows = kind.gates * config.hidden;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const std::int64_t in = layer == 0 ? config.input : config.hidden * directions();
    for (std::int64_t direction = 0; direction < directions(); ++direction) {
      RecurrentWeights& w = weights.emplace_back();
      w.w_ih = Weight(parameter({rows, in}));             // [gates * H, I]
      w.w_hh = Weight(parameter({rows, config.hidden}));  // [gates * H, H]
      if (!config.bias) continue;
      w.b_ih = parameter({rows});  // [gates * H]
      w.b_hh = parameter({rows});  // [gates * H]
    }
  }
}

void Recurrent::visit(ParameterVisitor& visitor) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto d = static_cast<std::size_t>(directions());
    const std::string suffix = fmt::format("_l{}{}", i / d, i % d == 1 ? "_reverse" : "");
    visitor("weight_ih" + suffix, weights[i].w_ih);
    visitor("weight_hh" + suffix, weights[i].w_hh);
    visitor("bias_ih" + suffix, weights[i].b_ih);
    visitor("bias_hh" + suffix, weights[i].b_hh);
  }
  visitor("dropout", dropout_);
}

void Recurrent::check_start(const Tensor& x, const Tensor& state) const {
  if (!state.defined()) return;
  const Shape expected{config_.layers * directions(), x.size(0), config_.hidden};
  HEED_CHECK(state.shape() == expected,
             "[{}] an initial state is {}: it must be {}, [layers * directions, B, H]", kind_.name,
             to_string(state.shape()), to_string(expected));
}

// One layer and direction.
RnnResult Recurrent::run(const Tensor& x, const RecurrentWeights& w,
                         const RnnOptions& options) const {
  if (w.is_packed()) return run_packed(x, w, options);
  return kind_.op(x, {w.w_ih.data, w.w_hh.data, w.b_ih, w.b_hh}, options);
}

// The same with packed weights, step by step: the fused call takes matrices as they are.
RnnResult Recurrent::run_packed(const Tensor& x, const RecurrentWeights& w,
                                const RnnOptions& options) const {
  const std::int64_t B = x.size(0), T = x.size(1), H = config_.hidden;
  const auto initial = [&](const Tensor& given) {
    return given.defined() ? given : zeros({B, H});  // [B, H]
  };
  const Tensor gates = w.input_gates(x);  // [B, T, gates * H]
  RnnStep now{initial(options.initial_state)};
  if (kind_.has_cell) now.cell = initial(options.initial_cell);
  std::vector<Tensor> outputs(static_cast<std::size_t>(T));  // [B, H] each
  const Tensor inside = options.lengths.defined()
                            ? greater(unsqueeze(options.lengths, 1), arange(T))
                            : Tensor();  // [B, T]
  for (std::int64_t i = 0; i < T; ++i) {
    const std::int64_t t = options.reverse ? T - 1 - i : i;
    const RnnStep next = kind_.step({.gates = select(gates, 1, t),
                                     .hidden_gates = w.hidden_gates(now.state),
                                     .state = now.state,
                                     .cell = now.cell});
    Tensor& output = outputs[static_cast<std::size_t>(t)];
    if (!inside.defined()) {
      now = next;
      output = next.state;
      continue;
    }
    const Tensor runs = unsqueeze(select(inside, 1, t), 1);  // [B, 1]
    output = where(runs, next.state, 0.0);
    now.state = where(runs, next.state, now.state);
    if (kind_.has_cell) now.cell = where(runs, next.cell, now.cell);
  }
  return {.output = T > 0 ? stack(outputs, 1) : zeros({B, 0, H}),  // [B, T, H]
          .state = now.state,
          .cell = now.cell};
}

RecurrentResult Recurrent::operator()(const Tensor& x, const RecurrentStart& start) const {
  HEED_CHECK(x.rank() == 3 && x.size(2) == config_.input, "[{}] x {}: it must be [B, T, {}]",
             kind_.name, to_string(x.shape()), config_.input);
  check_start(x, start.state);
  check_start(x, start.cell);
  const auto initial = [](const Tensor& states, std::int64_t k) {
    return states.defined() ? select(states, 0, k) : Tensor();  // [B, H]
  };
  ArenaVector<Tensor> states, cells;
  Tensor y = x;  // [B, T, I]
  for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
    std::array<Tensor, 2> outputs;  // [B, T, H] each
    for (std::int64_t direction = 0; direction < directions(); ++direction) {
      const std::int64_t k = layer * directions() + direction;
      RnnResult done = run(y, weights[static_cast<std::size_t>(k)],
                           {.initial_state = initial(start.state, k),
                            .initial_cell = initial(start.cell, k),
                            .lengths = start.lengths,
                            .reverse = config_.reverse || direction == 1});
      outputs[static_cast<std::size_t>(direction)] = std::move(done.output);
      states.push_back(std::move(done.state));
      if (done.cell.defined()) cells.push_back(std::move(done.cell));
    }
    y = config_.bidirectional ? concat(outputs, -1) : outputs[0];  // [B, T, directions * H]
    if (layer + 1 < config_.layers) y = dropout_(y);               // [B, T, directions * H]
  }
  return {.output = y,
          .state = stack(states, 0),                            // [layers * directions, B, H]
          .cell = cells.empty() ? Tensor() : stack(cells, 0)};  // [layers * directions, B, H]
}

std::unique_ptr<Recurrent> make_recurrent(Cell cell, const RecurrentConfig& config,
                                          Generator& generator) {
  if (cell == Cell::gru) return std::make_unique<Gru>(config, generator);
  return std::make_unique<Lstm>(config, generator);
}

// ---- steps --------------------------------------------------------------------------------------

RecurrentSteps::RecurrentSteps(const Recurrent& stack, const Tensor& state, const Tensor& cell)
    : stack_(&stack) {
  const RecurrentConfig& config = stack.config();
  HEED_CHECK(!config.bidirectional && !config.reverse,
             "[{}] steps go from the first position to the last: use one direction, not reversed",
             stack.kind_.name);
  HEED_CHECK(state.rank() == 3 && state.size(0) == config.layers && state.size(2) == config.hidden,
             "[{}] an initial state is {}: it must be [{}, B, {}]", stack.kind_.name,
             to_string(state.shape()), config.layers, config.hidden);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const RecurrentWeights& w = stack.weights[static_cast<std::size_t>(layer)];
    if (!w.is_packed()) {
      if (layer > 0) input_.emplace_back(w.w_ih.data, w.b_ih);
      hidden_.emplace_back(w.w_hh.data, w.b_hh);
    }
    state_.push_back({select(state, 0, layer), cell.defined() ? select(cell, 0, layer) : Tensor()});
  }
}

// The share of the layer below: [B, gates * H].
Tensor RecurrentSteps::input_gates(std::size_t layer) const {
  const Tensor x = stack_->dropout_(state_[layer - 1].state);  // [B, H]
  return input_.empty() ? stack_->weights[layer].input_gates(x) : input_[layer - 1](x);
}

// The share of the layer's own state: [B, gates * H].
Tensor RecurrentSteps::hidden_gates(std::size_t layer) const {
  const Tensor& h = state_[layer].state;  // [B, H]
  return hidden_.empty() ? stack_->weights[layer].hidden_gates(h) : hidden_[layer](h);
}

Tensor RecurrentSteps::step(const Tensor& gates) {
  for (std::size_t layer = 0; layer < state_.size(); ++layer) {
    RnnStep& own = state_[layer];
    own = stack_->kind_.step({.gates = layer == 0 ? gates : input_gates(layer),
                              .hidden_gates = hidden_gates(layer),
                              .state = own.state,
                              .cell = own.cell});
  }
  return top();  // [B, H]
}

void RecurrentSteps::reorder(std::span<const std::int64_t> from) {
  const Tensor ids = from_values(from, {std::ssize(from)});
  for (RnnStep& layer : state_) {
    layer.state = index_select(layer.state, 0, ids);  // [B, H]
    if (layer.cell.defined()) layer.cell = index_select(layer.cell, 0, ids);
  }
}

}  // namespace heed
