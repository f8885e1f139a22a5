#include "heed/models/pointer_network.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "heed/attention/masks.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/models/block.h"
#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

const PointerNetworkConfig& checked(const PointerNetworkConfig& config) {
  config.validate();
  return config;
}

// A learned vector, initialised as the inputs of a linear layer of its size would be.
Tensor learned_vector(std::int64_t size, Generator& generator) {
  Tensor row = empty({1, size});
  init::kaiming_uniform(row, generator);
  return reshape(row, {size}).requires_grad();
}

// A vector [E] before the rows of x [B, T, E]: [B, 1 + T, E].
Tensor with_first(const Tensor& vector, const Tensor& x) {
  return concat({expand(vector, {x.size(0), 1, x.size(2)}), x}, 1);
}

// Rows of table [B, N, E] at positions [B, P]: [B, P, E].
Tensor rows_at(const Tensor& table, const Tensor& positions) {
  const std::int64_t B = table.size(0), N = table.size(1), P = positions.size(1);
  check_index("pointer_network", "the positions", positions, N);
  Tensor ids = contiguous_copy(positions);  // [B, P]
  auto* const id = ids.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < B * P; ++i) id[i] += i / P * N;
  const Tensor flat = reshape(table, {B * N, table.size(2)});                           // [B N, E]
  return reshape(index_select(flat, 0, reshape(ids, {B * P})), {B, P, table.size(2)});  // [B, P, E]
}

// Which of N positions step i may point at, if the steps before have taken theirs; the end is never
// taken, so that no step is without a position: boolean [B, 1, P, N].
Tensor free_positions(const Tensor& pointed, std::int64_t N) {
  const std::int64_t B = pointed.size(0), P = pointed.size(1);
  const std::vector<std::int64_t> at = pointed.to_vector<std::int64_t>();
  Tensor free = full({B, 1, P, N}, 1.0, DType::boolean);
  bool* const rows = free.mutable_data<bool>();
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t i = 1; i < P; ++i) {
      bool* const row = rows + (b * P + i) * N;
      std::copy_n(row - N, N, row);
      const std::int64_t taken = at[static_cast<std::size_t>(b * P + i - 1)];
      if (taken > 0) row[taken] = false;
    }
  }
  return free;
}

}  // namespace

// ---- config -------------------------------------------------------------------------------------

void PointerNetworkConfig::fields(io::Fields& field) {
  field("features", features, "numbers of an element: 2 for points, 1 for numbers",
        {.min = 1, .max = kMaxFeatures});
  field("embed", embed, "features of an embedded element", {.min = 1, .max = kMaxFeatures});
  field("hidden", hidden, "features of the states of encoder and decoder",
        {.min = 1, .max = kMaxFeatures});
  field("cell", cell, "kind of the recurrent layers");
  field("glimpses", glimpses, "times that a query attends to the elements before it points",
        {.min = 0, .max = kMaxLayers});
  field("each_once", each_once, "whether an element may be pointed at only once");
  field("dropout", dropout, "dropout probability of embedded elements", {.min = 0, .max = 1});
}

void PointerNetworkConfig::validate() const {
  HEED_CHECK(features >= 1 && embed >= 1 && hidden >= 1,
             "[pointer_network] elements of {} numbers, {} features, states of {}: at least 1 of "
             "each",
             features, embed, hidden);
  HEED_CHECK(dropout >= 0.0 && dropout < 1.0,
             "[pointer_network] dropout {}: it must be at least 0 and below 1", dropout);
}

// ---- the model ----------------------------------------------------------------------------------

PointerNetwork::PointerNetwork(const Config& config, Generator& generator)
    : elements({.in = checked(config).features, .out = config.embed}, generator),
      first(learned_vector(config.embed, generator)),
      end(learned_vector(config.hidden, generator)),
      dropout({.p = config.dropout}),
      encoder(
          make_recurrent(config.cell, {.input = config.embed, .hidden = config.hidden}, generator)),
      decoder(
          make_recurrent(config.cell, {.input = config.embed, .hidden = config.hidden}, generator)),
      pointer({.embed = config.hidden}, generator),
      config_(config) {
  for (std::int64_t i = 0; i < config.glimpses; ++i) {
    glimpses.emplace_back(BahdanauConfig{.embed = config.hidden}, generator);
  }
}

ModelChoice PointerNetwork::choice() const {
  return choice_of<PointerNetwork>(kPointerNetwork, config_);
}

void PointerNetwork::visit(ParameterVisitor& visitor) {
  visitor("elements", elements);
  visitor("first", first);
  visitor("end", end);
  visitor("dropout", dropout);
  visitor("encoder", encoder);
  visitor("decoder", decoder);
  visitor("glimpses", glimpses);
  visitor("pointer", pointer);
}

PointerNetwork::Read PointerNetwork::read(const Elements& in) const {
  HEED_CHECK(in.numbers.rank() == 3 && in.numbers.size(2) == config_.features,
             "[pointer_network] elements {}: they must be [B, T, {}]",
             to_string(in.numbers.shape()), config_.features);
  const std::int64_t B = in.numbers.size(0), T = in.numbers.size(1);
  const Tensor x = dropout(elements(in.numbers));                         // [B, T, E]
  const RecurrentResult states = (*encoder)(x, {.lengths = in.lengths});  // [B, T, H]
  Tensor lengths = full({B}, static_cast<double>(T + 1), DType::i64);
  if (in.lengths.defined()) {
    const std::vector<std::int64_t> given = in.lengths.to_vector<std::int64_t>();
    for (std::size_t b = 0; b < given.size(); ++b) {
      lengths.mutable_data<std::int64_t>()[b] = given[b] + 1;
    }
  }
  return {.embedded = with_first(first, x),
          .memory = with_first(end, states.output),
          .lengths = lengths,
          .state = states.state,
          .cell = states.cell};
}

Tensor PointerNetwork::log_probs(const Elements& in, const Tensor& pointed,
                                 std::vector<LayerWeights>* weights) const {
  const Read source = read(in);
  const std::int64_t B = pointed.size(0), P = pointed.size(1);
  const Tensor start = zeros({B, 1}, DType::i64);
  const Tensor before = concat({start, slice(pointed, 1, 0, P - 1)}, 1);  // [B, P]
  Tensor q =
      (*decoder)(rows_at(source.embedded, before), {.state = source.state, .cell = source.cell})
          .output;  // [B, P, H]
  if (weights != nullptr) weights->assign(glimpses.size() + 1, {});
  for (std::size_t i = 0; i < glimpses.size(); ++i) {
    q = glimpses[i]({.x = q,
                     .memory = source.memory,
                     .lengths = source.lengths,
                     .weights = weights != nullptr ? &(*weights)[i].cross : nullptr});
  }
  AttentionInput ask{.x = q, .memory = source.memory, .lengths = source.lengths};
  if (config_.each_once) ask.mask = boolean_mask(free_positions(pointed, source.memory.size(1)));
  const Tensor y = pointer.log_probs(ask);  // [B, P, 1 + T]
  if (weights != nullptr) weights->back().cross = unsqueeze(exp(y.detach()), 1);
  return y;
}

// ---- steps --------------------------------------------------------------------------------------

class PointerNetwork::Steps : public Decoding {
 public:
  Steps(const PointerNetwork& model, const Elements& in) : model_(model), source_(model.read(in)) {
    cells_.emplace(*model.decoder, source_.state, source_.cell);
    const DecodeStart from{
        .batch = source_.memory.size(0), .memory = source_.memory, .lengths = source_.lengths};
    for (const BahdanauAttention& glimpse : model.glimpses)
      glimpses_.push_back(glimpse.start(from));
    pointer_ = model.pointer.start(from);
  }

  Tensor step(const Tensor& ids) override {
    const NoGrad no_grad;
    HEED_CHECK(ids.rank() == 2 && ids.size(1) == 1,
               "[pointer_network] positions {}: a step takes [B, 1]", to_string(ids.shape()));
    const Tensor before = cast(ids, DType::i64);  // [B, 1]
    if (model_.config_.each_once && steps_ > 0) {
      model_.pointer.take(reshape(before, {before.size(0)}), *pointer_);
    }
    ++steps_;
    const Tensor x = squeeze(rows_at(source_.embedded, before), 1);  // [B, E]
    const Tensor gates = model_.decoder->weights[0].input_gates(x);  // [B, gates * H]
    Tensor q = unsqueeze(cells_->step(gates), 1);                    // [B, 1, H]
    if (to_ != nullptr) to_->assign(glimpses_.size() + 1, {});
    for (std::size_t i = 0; i < glimpses_.size(); ++i) {
      glimpses_[i]->weights = to_ != nullptr ? &(*to_)[i].cross : nullptr;
      q = model_.glimpses[i].step(q, *glimpses_[i]);  // [B, 1, H]
    }
    pointer_->weights = to_ != nullptr ? &to_->back().cross : nullptr;
    return log(model_.pointer.step(q, *pointer_));  // [B, 1, 1 + T]
  }
  void reorder(std::span<const std::int64_t> from) override {
    const NoGrad no_grad;
    const Tensor ids = from_values(from, {std::ssize(from)});
    source_.embedded = index_select(source_.embedded, 0, ids);  // [B, 1 + T, E]
    cells_->reorder(from);
    for (const auto& glimpse : glimpses_) glimpse->reorder(from);
    pointer_->reorder(from);
  }
  void observe(std::vector<LayerWeights>& to, ObservedWeights what) override {
    to_ = what != ObservedWeights::none ? &to : nullptr;
  }

 private:
  const PointerNetwork& model_;
  Read source_;
  std::optional<RecurrentSteps> cells_;
  std::vector<std::unique_ptr<DecodeState>> glimpses_;
  std::unique_ptr<DecodeState> pointer_;
  std::int64_t steps_ = 0;
  std::vector<LayerWeights>* to_ = nullptr;
};

std::unique_ptr<Decoding> PointerNetwork::start(const Elements& in) const {
  const NoGrad no_grad;
  return std::make_unique<Steps>(*this, in);
}

}  // namespace heed
