#include "heed/attention/variants/luong_decoder.h"

#include "heed/base/error.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

void LuongDecoderConfig::fields(io::Fields& field) {
  field("embed", embed, "features of inputs, memory, states and results", {.min = 1});
  field("cell", cell, "the recurrent cell");
  field("layers", layers, "layers of the cell", {.min = 1});
  field("dropout", dropout, "dropout probability between layers of the cell", {.min = 0, .max = 1});
  field("input_feeding", input_feeding,
        "whether a step reads the attentional vector of the step before");
  field("attention", attention, "attention to the memory");
}

namespace {

std::unique_ptr<Recurrent> make_cell(const LuongDecoderConfig& config, Generator& generator) {
  const RecurrentConfig recurrent{.input = config.embed * (config.input_feeding ? 2 : 1),
                                  .hidden = config.embed,
                                  .layers = config.layers,
                                  .dropout = config.dropout};
  return make_recurrent(config.cell, recurrent, generator);
}

std::unique_ptr<AttentionLayer> make_layer(const LuongDecoderConfig& config, Generator& generator) {
  const Traits& can = config.attention.traits();
  HEED_CHECK(can.form == Form::sequence && can.cross && can.decodes,
             "[luong_decoder] attention \"{}\" cannot attend to a memory step by step: global, "
             "local_p and multi_head can",
             config.attention.text());
  // W_c belongs to the decoder.
  return config.attention.within({.embed = config.embed, .combine = false}).make(generator);
}

}  // namespace

LuongDecoder::LuongDecoder(const Config& config, Generator& generator)
    : cell(make_cell(config, generator)),
      attention(make_layer(config, generator)),
      combine({.in = 2 * config.embed,
               .out = config.embed,
               .bias = false,
               .activation = Activation::tanh},
              generator),
      config_(config) {}

void LuongDecoder::visit(ParameterVisitor& visitor) {
  visitor("cell", cell);
  visitor("attention", attention);
  visitor("combine", combine);
}

Tensor LuongDecoder::attentional(const Tensor& context, const Tensor& h) const {
  return combine(concat({context, h}, -1));  // [B, T, E]
}

// Without input feeding no step depends on the attention of the one before.
Tensor LuongDecoder::operator()(const Tensor& y, const Start& from) const {
  if (config_.input_feeding) {
    State state = start(from);
    return step(y, state);
  }
  const Tensor h = (*cell)(y, {.state = from.state, .cell = from.cell}).output;  // [B, T, E]
  const Tensor context = (*attention)({.x = h, .memory = from.memory, .lengths = from.lengths});
  return attentional(context, h);
}

LuongDecoder::State LuongDecoder::start(const Start& from) const {
  HEED_CHECK(
      from.memory.defined() && from.memory.rank() == 3 && from.memory.size(2) == config_.embed,
      "[luong_decoder] memory is {}: it must be [B, Tk, {}]",
      from.memory.defined() ? to_string(from.memory.shape()) : "undefined", config_.embed);
  const std::int64_t B = from.memory.size(0);
  State state;
  state.recurrent_ = {.state = from.state, .cell = from.cell};
  state.fed_ = zeros({B, 1, config_.embed}, from.memory.dtype());  // [B, 1, E]
  state.attention_ = attention->start({.batch = B, .memory = from.memory, .lengths = from.lengths});
  return state;
}

Tensor LuongDecoder::step(const Tensor& y, State& state) const {
  HEED_CHECK(y.rank() == 3 && y.size(0) == state.fed_.size(0) && y.size(2) == config_.embed,
             "[luong_decoder] y is {}: it must be [{}, T, {}]", to_string(y.shape()),
             state.fed_.size(0), config_.embed);
  std::vector<Tensor> results;
  results.push_back(slice(y, 1, 0, 0));  // so that concat has an input if there are no steps
  for (std::int64_t t = 0; t < y.size(1); ++t) {
    results.push_back(step_once(slice(y, 1, t, t + 1), state));
  }
  return concat(results, 1);  // [B, T, E]
}

Tensor LuongDecoder::step_once(const Tensor& y, State& state) const {
  const Tensor in = config_.input_feeding ? concat({y, state.fed_}, -1) : y;  // [B, 1, 2 E]
  RecurrentResult run = (*cell)(in, state.recurrent_);
  state.recurrent_ = {.state = std::move(run.state), .cell = std::move(run.cell)};
  const Tensor context = attention->step(run.output, *state.attention_);  // [B, 1, E]
  HEED_CHECK(context.tracks_grad() || !run.output.tracks_grad(),
             "[luong_decoder] steps of attention {} have no gradient: learn with "
             "input_feeding=false, or with global, bahdanau, local_m or local_p",
             config_.attention.text());
  state.fed_ = attentional(context, run.output);  // [B, 1, E]
  return state.fed_;
}

void LuongDecoder::State::reorder(std::span<const std::int64_t> from) {
  const Tensor ids = from_values(from, {static_cast<std::int64_t>(from.size())});
  fed_ = index_select(fed_, 0, ids);
  for (Tensor* const x : {&recurrent_.state, &recurrent_.cell}) {
    if (x->defined()) *x = index_select(*x, 1, ids);
  }
  attention_->reorder(from);
}

}  // namespace heed
