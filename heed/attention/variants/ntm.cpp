#include "heed/attention/variants/ntm.h"

#include <cmath>

#include "heed/attention/variants/input_checks.h"
#include "heed/attention/variants/ntm_memory.h"
#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/softmax.h"

namespace heed {

void NtmConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("slots", slots, "slots of the memory", {.min = 1});
  field("width", width, "size of a slot", {.min = 1});
  field("read_heads", read_heads, "number of read heads", {.min = 1});
  field("write_heads", write_heads, "number of write heads", {.min = 1});
  field("shifts", shifts,
        "maximum number of slots that a head moves in one step, in either direction", {.min = 0});
  field("controller", controller, "network that controls the heads");
  field("hidden", hidden, "features of the controller; 0: as embed", {.min = 0});
}

void NtmConfig::validate() const {
  HEED_CHECK(2 * shifts < slots,
             "[ntm] shifts {} and slots {}: moves by -{} to {} must lead to different slots",
             shifts, slots, shifts, shifts);
}

namespace {

NtmConfig completed(NtmConfig config) {
  config.validate();
  if (config.hidden == 0) config.hidden = config.embed;
  return config;
}

std::int64_t head_numbers(const NtmConfig& config) {
  return (config.read_heads + config.write_heads) * ntm::address_size(config.width, config.shifts) +
         2 * config.write_heads * config.width;
}

std::int64_t hidden_of(const NtmConfig& config) { return completed(config).hidden; }

}  // namespace

Ntm::Ntm(const Config& config, Generator& generator)
    : heads({.in = hidden_of(config), .out = head_numbers(config)}, generator),
      out_proj({.in = hidden_of(config) + config.read_heads * config.width, .out = config.embed},
               generator),
      config_(completed(config)) {
  const std::int64_t N = config_.slots, M = config_.width, R = config_.read_heads;
  const std::int64_t input = config_.embed + R * M, C = config_.hidden;
  switch (config_.controller) {
    case NtmController::lstm:
      recurrent = std::make_unique<Lstm>(RecurrentConfig{.input = input, .hidden = C}, generator);
      break;
    case NtmController::gru:
      recurrent = std::make_unique<Gru>(RecurrentConfig{.input = input, .hidden = C}, generator);
      break;
    case NtmController::feed_forward:
      feed_forward = std::make_unique<Linear>(
          LinearConfig{.in = input, .out = C, .activation = Activation::tanh}, generator);
  }
  // A small constant learns faster than random numbers (Collier and Beel 2018, Implementing Neural
  // Turing Machines). Their constant, 1e-6, is so short that its direction has gradients in the
  // thousands.
  memory = full({N, M}, 1e-2).requires_grad();  // [N, M]
  // Heads start at slot 0 with 95 % of their weight: with equal weights, moves would have no
  // effect.
  places = zeros({R + config_.write_heads, N});  // [R + W, N]
  for (std::int64_t head = 0; head < places.size(0); ++head) {
    places.mutable_data<float>()[head * N] = std::log(static_cast<float>(N)) + 3.0f;
  }
  places.requires_grad();
  reading = zeros({R * M}).requires_grad();  // [R M]
}

void Ntm::visit(ParameterVisitor& visitor) {
  visitor("controller", recurrent);
  visitor("controller", feed_forward);
  visitor("heads", heads);
  visitor("out_proj", out_proj);
  visitor("memory", memory);
  visitor("places", places);
  visitor("reading", reading);
}

void Ntm::check(const AttentionInput& in) const {
  check_input("ntm", in, config_.embed, config_.embed);
  refuse_memory("ntm", in.memory);
  refuse_mask("ntm", in.mask);
}

// ---- one position after another -----------------------------------------------------------------

Ntm::Moment Ntm::first(std::int64_t B) const {
  const std::int64_t N = config_.slots, M = config_.width, R = config_.read_heads;
  Moment now;
  now.memory = expand(memory, {B, N, M});                                    // [B, N, M]
  now.weights = expand(softmax(places), {B, R + config_.write_heads, N});    // [B, R + W, N]
  now.reading = expand(reading, {B, R * M});                                 // [B, R M]
  if (recurrent) now.state = zeros({1, B, config_.hidden}, memory.dtype());  // [1, B, C]
  if (config_.controller == NtmController::lstm) now.cell = now.state;       // [1, B, C]
  return now;
}

// x [B, E] -> the output of the controller, [B, C].
Tensor Ntm::control(const Tensor& x, Moment& now) const {
  const Tensor told = concat({x, now.reading}, 1);  // [B, E + R M]
  if (feed_forward) return (*feed_forward)(told);   // [B, C]
  const RecurrentResult said =
      (*recurrent)(unsqueeze(told, 1), {.state = now.state, .cell = now.cell});
  now.state = said.state;
  now.cell = said.cell;
  return squeeze(said.output, 1);  // [B, C]
}

// x [B, E] -> the input of the output projection, [B, C + R M].
Tensor Ntm::advance(const Tensor& x, Moment& now) const {
  const std::int64_t B = x.size(0), M = config_.width;
  const std::int64_t R = config_.read_heads, W = config_.write_heads;
  const std::int64_t A = ntm::address_size(M, config_.shifts);
  const Tensor said = control(x, now);  // [B, C]
  const std::vector<Tensor> orders = split(heads(said), {(R + W) * A, W * M, W * M}, 1);
  const ntm::Address to = ntm::make_address(reshape(orders[0], {B, R + W, A}), M);
  now.weights = ntm::address(now.memory, now.weights, to);  // [B, R + W, N]
  now.memory = ntm::write(now.memory, {.weights = slice(now.weights, 1, R, R + W),
                                       .erase = sigmoid(reshape(orders[1], {B, W, M})),
                                       .add = reshape(orders[2], {B, W, M})});
  const Tensor read = ntm::read(now.memory, slice(now.weights, 1, 0, R));  // [B, R, M]
  now.reading = reshape(read, {B, R * M});                                 // [B, R M]
  return concat({said, now.reading}, 1);                                   // [B, C + R M]
}

Tensor Ntm::run(const Tensor& x, Moment& now, const NtmWeights& weights) const {
  const std::int64_t B = x.size(0), T = x.size(1), R = config_.read_heads, W = config_.write_heads;
  if (T == 0) {
    if (weights.read != nullptr) *weights.read = zeros({B, R, 0, config_.slots}, x.dtype());
    if (weights.write != nullptr) *weights.write = zeros({B, W, 0, config_.slots}, x.dtype());
    return zeros(x.shape(), x.dtype());
  }
  std::vector<Tensor> made, read, written;
  for (std::int64_t t = 0; t < T; ++t) {
    made.push_back(advance(select(x, 1, t), now));
    const Tensor seen = now.weights.detach();  // [B, R + W, N]
    if (weights.read != nullptr) read.push_back(slice(seen, 1, 0, R));
    if (weights.write != nullptr) written.push_back(slice(seen, 1, R, R + W));
  }
  if (weights.read != nullptr) *weights.read = stack(read, 2);       // [B, R, T, N]
  if (weights.write != nullptr) *weights.write = stack(written, 2);  // [B, W, T, N]
  return out_proj(stack(made, 1));                                   // [B, T, E]
}

Tensor Ntm::run(const Tensor& x, const NtmWeights& weights) const {
  check({.x = x});
  Moment now = first(x.size(0));
  return run(x, now, weights);  // [B, T, E]
}

Tensor Ntm::operator()(const AttentionInput& in) const {
  check(in);
  Moment now = first(in.x.size(0));
  return run(in.x, now, {.read = in.weights});  // [B, T, E]
}

// ---- decoding -----------------------------------------------------------------------------------

class Ntm::State : public DecodeState {
 public:
  explicit State(Moment moment) : now(std::move(moment)) {}
  void reorder(std::span<const std::int64_t> from) override {
    const Tensor ids = from_values(from, {static_cast<std::int64_t>(from.size())});
    for (Tensor* const x : {&now.memory, &now.weights, &now.reading}) {
      *x = index_select(*x, 0, ids);
    }
    for (Tensor* const x : {&now.state, &now.cell}) {
      if (x->defined()) *x = index_select(*x, 1, ids);
    }
  }

  Moment now;
};

std::unique_ptr<DecodeState> Ntm::start(const DecodeStart& from) const {
  refuse_memory("ntm", from.memory);
  return std::make_unique<State>(first(from.batch));
}

Tensor Ntm::step(const Tensor& x, DecodeState& state) const {
  check({.x = x});
  return run(x, dynamic_cast<State&>(state).now, {.read = state.weights});  // [B, T, E]
}

}  // namespace heed
