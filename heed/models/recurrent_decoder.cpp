#include "heed/models/recurrent_decoder.h"

#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/models/block.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// The states that a decoder starts with, as cells take them: [B, layers, H] -> [layers, B, H].
RecurrentStart start_of(const Memory& memory) {
  const auto layers_first = [](const Tensor& x) {
    return x.defined() ? transpose(x, 0, 1) : Tensor();
  };
  return {.state = layers_first(memory.state), .cell = layers_first(memory.cell)};
}

std::unique_ptr<Recurrent> make_cells(const RecurrentDecoderConfig& config, Generator& generator) {
  config.validate();
  return make_recurrent(config.cell,
                        {.input = config.embed + config.fed_size(),
                         .hidden = config.hidden,
                         .layers = config.layers,
                         .dropout = config.dropout},
                        generator);
}

// Pairs of features -> the greater of each.
Tensor maxout(const Tensor& x) {
  Shape pairs = x.shape();
  pairs[pairs.rank() - 1] /= 2;
  pairs.push_back(2);
  const Tensor split = reshape(x, pairs);                      // […, E, 2]
  return maximum(select(split, -1, 0), select(split, -1, 1));  // […, E]
}

}  // namespace

// ---- config -------------------------------------------------------------------------------------

void RecurrentDecoderConfig::fields(io::Fields& field) {
  field("embed", embed, "features of an embedding", {.min = 1, .max = kMaxFeatures});
  field("hidden", hidden, "features of the decoder's states", {.min = 1, .max = kMaxFeatures});
  field("cell", cell, "kind of the recurrent layers");
  field("layers", layers, "recurrent layers of the decoder, and of an encoder of text",
        {.min = 1, .max = kMaxLayers});
  field("attention", attention, "attention to what was read: a mechanism and its options, or none");
  field("feeding", feeding,
        "what the decoder's cells read besides the embedding: the context of the state before "
        "(Bahdanau), the readout of the step before (Luong's input feeding), none");
  field("readout", readout,
        "what the output layer reads: the state, concat or maxout of state, context and embedding, "
        "attentional: Luong's tanh(W_c [context; state])");
  field("readout_dropout", readout_dropout, "dropout probability of the readout",
        {.min = 0, .max = 1});
}

std::int64_t RecurrentDecoderConfig::context_size() const {
  if (!attention) return feeding == Feeding::context ? hidden : 0;
  return attention->traits().plain_values ? memory : hidden;
}

std::int64_t RecurrentDecoderConfig::fed_size() const {
  if (feeding == Feeding::none) return 0;
  return feeding == Feeding::context ? context_size() : readout_size();
}

std::int64_t RecurrentDecoderConfig::readout_size() const {
  switch (readout) {
    case Readout::state:
    case Readout::attentional:
      return hidden;
    case Readout::concat:
      return hidden + context_size() + embed;
    case Readout::maxout:
      return embed;
  }
  HEED_ASSERT(false);
}

// W_c belongs to the decoder.
AttentionChoice RecurrentDecoderConfig::sized_attention() const {
  const bool has_inputs = attention->takes("input_embed") && !attention->sets("input_embed");
  const AttentionChoice choice =
      has_inputs ? fmt::format("{} input_embed={}", attention->text(), embed) : *attention;
  return choice.within({.embed = hidden, .memory_embed = memory, .combine = false});
}

void RecurrentDecoderConfig::validate() const {
  HEED_CHECK(attention || (feeding != Feeding::readout && readout != Readout::attentional),
             "[recurrent] attention = \"none\" with {}: there is no context to combine; choose an "
             "attention, such as \"bahdanau\", or {}",
             feeding == Feeding::readout ? "feeding = \"readout\"" : "readout = \"attentional\"",
             feeding == Feeding::readout ? "feeding = \"context\"" : "readout = \"concat\"");
  HEED_CHECK(
      feeding != Feeding::readout || readout == Readout::attentional || readout == Readout::maxout,
      "[recurrent] feeding = \"readout\" with readout = \"{}\": cells have their state and "
      "embedding already; use readout = \"attentional\" or \"maxout\"",
      io::enum_name(readout));
  HEED_CHECK(!copy || (attention && attention->mechanism().name == kPointerGenerator.name),
             "[recurrent] copy = true with attention = \"{}\": weights must have a gradient, and a "
             "gate must choose between writing and copying; use attention = \"{}\"",
             attention ? attention->text() : "none", kPointerGenerator.name);
  if (!attention) return;
  check_attention("recurrent", {.key = "attention", .cross = true}, *attention);
  HEED_CHECK(attention->traits().decodes,
             "[recurrent] attention \"{}\" cannot go step by step: choose one that decodes, such "
             "as \"bahdanau\" or \"multi_head\"",
             attention->text());
}

// ---- the decoder --------------------------------------------------------------------------------

RecurrentDecoder::RecurrentDecoder(const Config& config, Generator& generator)
    : cells(make_cells(config, generator)),
      dropout({.p = config.readout_dropout}),
      config_(config) {
  if (config.attention) attention = config.sized_attention().make(generator);
  if (config.readout == Readout::attentional) {
    combine.emplace(LinearConfig{.in = config.context_size() + config.hidden,
                                 .out = config.hidden,
                                 .bias = false,
                                 .activation = Activation::tanh},
                    generator);
  }
  if (config.readout == Readout::maxout) {
    combine.emplace(LinearConfig{.in = config.hidden + config.context_size() + config.embed,
                                 .out = 2 * config.embed},
                    generator);
  }
}

void RecurrentDecoder::visit(ParameterVisitor& visitor) {
  visitor("cells", cells);
  visitor("attention", attention);
  visitor("combine", combine);
  visitor("dropout", dropout);
}

// Whether a step depends on the attention of the one before.
bool RecurrentDecoder::goes_by_steps() const {
  return attention && config_.feeding != Feeding::none;
}

// The readouts of states and contexts […, H] and […, C]; a context may be undefined. Steps pass the
// map that they repeat.
Tensor RecurrentDecoder::read_out(const Tensor& h, const Tensor& context, const Tensor& y,
                                  const RepeatedLinear* repeated) const {
  if (config_.readout == Readout::state) return dropout(h);
  if (config_.readout == Readout::attentional) {
    const Tensor both = concat({context, h}, -1);  // […, C + H]
    return dropout(repeated != nullptr ? tanh((*repeated)(both)) : (*combine)(both));  // […, H]
  }
  const Tensor all =
      context.defined() ? concat({h, context, y}, -1) : concat({h, y}, -1);  // […, H + C + E]
  if (config_.readout == Readout::concat) return dropout(all);
  return dropout(maxout(repeated != nullptr ? (*repeated)(all) : (*combine)(all)));  // […, E]
}

const PointerGenerator& RecurrentDecoder::pointer() const {
  return dynamic_cast<const PointerGenerator&>(*attention);
}

Tensor RecurrentDecoder::operator()(const Tensor& y, const Memory& memory, Tensor* weights,
                                    CopySteps* copied) const {
  if (goes_by_steps()) {
    State state = start(memory);
    state.weights = weights;
    state.copied = copied;
    return step(y, state);
  }
  const RecurrentStart from = start_of(memory);
  Tensor x = y, context;  // [B, T, E]
  if (!attention && config_.feeding == Feeding::context) {
    const Tensor first = unsqueeze(select(from.state, 0, config_.layers - 1), 1);  // [B, 1, H]
    context = expand(first, {y.size(0), y.size(1), config_.hidden});               // [B, T, H]
    x = concat({y, context}, -1);                                                  // [B, T, E + H]
  }
  const Tensor h = (*cells)(x, from).output;  // [B, T, H]
  if (attention && copied != nullptr) {
    const Attended attended =
        pointer().attend({.x = h, .memory = memory.states, .lengths = memory.lengths});
    context = attended.context;  // [B, T, C]
    *copied = {.gate = squeeze(pointer().gate(context, h, y), -1),
               .weights = attended.weights,
               .coverage = attended.coverage};
  } else if (attention) {
    context = (*attention)(
        {.x = h, .memory = memory.states, .lengths = memory.lengths, .weights = weights});
  }
  return read_out(h, context, y);  // [B, T, R]
}

// ---- steps --------------------------------------------------------------------------------------

std::int64_t RecurrentDecoder::cache_bytes(std::int64_t memory, CacheForm cache) const {
  if (!attention) return 0;
  return attention->cache_bytes({.positions = memory, .of_memory = true, .form = cache});
}

RecurrentDecoder::State RecurrentDecoder::start(const Memory& memory, CacheForm cache) const {
  const RecurrentStart from = start_of(memory);
  State state(RecurrentSteps(*cells, from.state, from.cell));
  const std::int64_t B = memory.states.size(0);
  const Weight& weight = cells->weights[0].w_ih;  // [gates * H, E + fed]
  if (config_.fed_size() > 0 && !weight.packed) {
    state.embedded = slice(weight.data, 1, 0, config_.embed);
    state.extra.emplace(slice(weight.data, 1, config_.embed, weight.in()));
  }
  if (combine && config_.feeding == Feeding::readout && grad_enabled()) {
    state.combine.emplace(combine->weight.data, combine->bias);
  }
  if (config_.feeding == Feeding::readout) {
    state.fed = zeros({B, config_.readout_size()}, weight.dtype());  // [B, R]
  }
  if (attention) {
    state.attention = attention->start(
        {.batch = B, .memory = memory.states, .lengths = memory.lengths, .cache = cache});
  } else if (config_.feeding == Feeding::context) {
    state.summary = state.cells.top();  // [B, H]
  }
  return state;
}

// The context of queries [B, H]: [B, C].
Tensor RecurrentDecoder::attend(const Tensor& query, State& state) const {
  if (!attention) return state.summary;
  if (state.copied != nullptr) {
    const Attended attended = pointer().attend_step(unsqueeze(query, 1), *state.attention);
    if (Tensor* const seen = state.attention->weights) {
      *seen = unsqueeze(attended.weights.detach(), 1);  // [B, 1, 1, S]
    }
    state.copied_weights.push_back(attended.weights);
    state.coverages.push_back(attended.coverage);
    return squeeze(attended.context, 1);
  }
  const Tensor context = attention->step(unsqueeze(query, 1), *state.attention);  // [B, 1, C]
  HEED_CHECK(context.tracks_grad() || !query.tracks_grad(),
             "[recurrent] steps of attention \"{}\" have no gradient: train with feeding = "
             "\"none\", or with another attention, such as \"bahdanau\" or \"multi_head\"",
             config_.attention->text());
  return squeeze(context, 1);
}

// The embeddings' share of the gates, of all steps at once: [B, T, E] -> [B, T, gates * H].
// Undefined if it cannot be told from the share of what is fed: packed matrices have no columns.
Tensor RecurrentDecoder::input_gates(const Tensor& y, const State& state) const {
  const RecurrentWeights& w = cells->weights[0];
  if (config_.fed_size() == 0) return w.input_gates(y);
  return state.extra ? linear(y, state.embedded, {.bias = w.b_ih}) : Tensor();
}

// The gates of a step: what the embeddings y [B, E] give, if it is known, and what is fed [B, fed].
Tensor RecurrentDecoder::fed_gates(const Tensor& gates, const Tensor& y, const Tensor& fed,
                                   const State& state) const {
  if (config_.fed_size() == 0) return gates;
  if (state.extra) return gates + (*state.extra)(fed);
  return cells->weights[0].input_gates(concat({y, fed}, -1));  // [B, gates * H]
}

Tensor RecurrentDecoder::step(const Tensor& y, State& state) const {
  const std::int64_t T = y.size(1);
  const bool reads_first = config_.feeding == Feeding::context;
  const bool feeds_back = config_.feeding == Feeding::readout;
  const Tensor shares = input_gates(y, state);  // [B, T, gates * H]
  const RepeatedLinear* const repeated = state.combine ? &*state.combine : nullptr;
  Tensor seen;  // [B, H, 1, S]
  if (state.attention) state.attention->weights = state.weights != nullptr ? &seen : nullptr;
  std::vector<Tensor> states, contexts, readouts, weights;
  for (std::int64_t t = 0; t < T; ++t) {
    Tensor context = reads_first ? attend(state.cells.top(), state) : Tensor();  // [B, C]
    const Tensor gates = fed_gates(shares.defined() ? select(shares, 1, t) : Tensor(),
                                   select(y, 1, t), reads_first ? context : state.fed, state);
    const Tensor h = state.cells.step(gates);  // [B, H]
    if (!reads_first && attention) context = attend(h, state);
    if (seen.defined()) weights.push_back(seen);
    states.push_back(h);
    if (context.defined()) contexts.push_back(context);
    if (feeds_back) {
      state.fed = read_out(h, context, select(y, 1, t), repeated);  // [B, R]
      readouts.push_back(state.fed);
    }
  }
  if (state.weights != nullptr && !weights.empty()) *state.weights = concat(weights, 2);
  if (feeds_back && state.copied == nullptr) return stack(readouts, 1);     // [B, T, R]
  const Tensor context = contexts.empty() ? Tensor() : stack(contexts, 1);  // [B, T, C]
  const Tensor h = stack(states, 1);                                        // [B, T, H]
  if (state.copied != nullptr) {
    *state.copied = {.gate = squeeze(pointer().gate(context, h, y), -1),
                     .weights = concat(std::exchange(state.copied_weights, {}), 1),
                     .coverage = concat(std::exchange(state.coverages, {}), 1)};
  }
  return feeds_back ? stack(readouts, 1) : read_out(h, context, y);  // [B, T, R]
}

void RecurrentDecoder::State::reorder(std::span<const std::int64_t> from) {
  const Tensor ids = from_values(from, {std::ssize(from)});
  cells.reorder(from);
  if (attention) attention->reorder(from);
  for (Tensor* const x : {&summary, &fed}) {
    if (x->defined()) *x = index_select(*x, 0, ids);
  }
}

// ---- tokens -------------------------------------------------------------------------------------

namespace {

// Sequences in progress: the cells' states, and the keys of the memory.
class RecurrentDecoding : public Decoding, public CopyingDecoding {
 public:
  RecurrentDecoding(const RecurrentDecoder& decoder, std::function<Tensor(const Tensor&)> embed,
                    const Memory& memory, CacheForm cache)
      : decoder_(decoder), embed_(std::move(embed)), state_(decoder.start(memory, cache)) {
    if (decoder.copies()) state_.copied = &copied_;
  }

  Tensor step(const Tensor& ids) override {
    const NoGrad no_grad;
    Tensor seen;  // [B, H, T, S]
    state_.weights = to_ != nullptr ? &seen : nullptr;
    const Tensor y = decoder_.step(embed_(ids), state_);  // [B, T, R]
    if (to_ != nullptr) to_->front().cross = seen;
    return y;
  }
  void reorder(std::span<const std::int64_t> from) override {
    const NoGrad no_grad;
    state_.reorder(from);
  }
  void observe(std::vector<LayerWeights>& to, ObservedWeights what) override {
    const bool has_any = decoder_.attention && what != ObservedWeights::none;
    to.assign(has_any ? 1 : 0, {});
    to_ = has_any ? &to : nullptr;
  }
  const CopySteps* copied() const override { return decoder_.copies() ? &copied_ : nullptr; }

 private:
  const RecurrentDecoder& decoder_;
  std::function<Tensor(const Tensor&)> embed_;
  RecurrentDecoder::State state_;
  CopySteps copied_;
  std::vector<LayerWeights>* to_ = nullptr;
};

}  // namespace

std::unique_ptr<Decoding> start_decoding(const RecurrentDecoder& decoder,
                                         std::function<Tensor(const Tensor& ids)> embed,
                                         const Memory& memory, CacheForm cache) {
  const NoGrad no_grad;
  return std::make_unique<RecurrentDecoding>(decoder, std::move(embed), memory, cache);
}

}  // namespace heed
