#include "heed/attention/variants/average.h"

#include "heed/attention/variants/input_checks.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/reduce.h"
#include "heed/ops/scan.h"

namespace heed {

void AverageConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("hidden", hidden, "features inside the feed-forward; 0: 4 embed", {.min = 0});
  field("dropout", dropout, "dropout probability inside the feed-forward", {.min = 0, .max = 1});
}

AverageAttention::AverageAttention(const Config& config, Generator& generator)
    : feed_forward({.size = config.embed,
                    .hidden = config.hidden > 0 ? config.hidden : 4 * config.embed,
                    .dropout = config.dropout},
                   generator),
      gate({.in = 2 * config.embed, .out = 2 * config.embed}, generator),
      config_(config) {}

void AverageAttention::visit(ParameterVisitor& visitor) {
  visitor("feed_forward", feed_forward);
  visitor("gate", gate);
}

void AverageAttention::check(const AttentionInput& in) const {
  check_input("average", in, config_.embed, config_.embed);
  refuse_memory("average", in.memory);
  refuse_mask("average", in.mask);
}

namespace {

// The keys visible to each position, in the dtype of x: 1 or 0, [B or 1, T or 1, T].
Tensor seen(const AttentionInput& in) {
  const std::int64_t T = in.x.size(1);
  Tensor all = unsqueeze(within(in.lengths, T), 1);  // [B or 1, 1, T]
  if (in.causal) all = where(not_after(T, T), all, zeros({1}, DType::boolean));
  return cast(all, in.x.dtype());
}

// The number of keys visible to each position, at least 1: [B or 1, T or 1, 1].
Tensor counts(const AttentionInput& in) {
  const std::int64_t T = in.x.size(1);
  const Tensor there = cast(within(in.lengths, T), in.x.dtype());  // [B or 1, T]
  const Tensor n =
      in.causal ? unsqueeze(cumsum(there, 1), 2) : reshape(sum(there, {1}), {there.size(0), 1, 1});
  return maximum(n, scalar(1.0, n.dtype()));
}

Tensor averages(const AttentionInput& in) {
  const Tensor there = unsqueeze(within(in.lengths, in.x.size(1)), 2);  // [B or 1, T, 1]
  const Tensor x = where(there, in.x, 0.0);                             // [B, T, E]
  const Tensor total = in.causal ? cumsum(x, 1) : sum(x, {1}, {.keep_axes = true});
  return expand(total / counts(in), in.x.shape());  // [B, T, E]
}

}  // namespace

Tensor AverageAttention::gated(const Tensor& x, const Tensor& average) const {
  const Tensor y = feed_forward(average);                               // [B, T, E]
  const auto [i, f] = split<2>(sigmoid(gate(concat({x, y}, -1))), -1);  // [B, T, E]
  return i * x + f * y;                                                 // [B, T, E]
}

// Equal weights of all visible positions: [B, 1, T, T].
void AverageAttention::observe(const AttentionInput& in) const {
  const NoGrad no_grad;
  const std::int64_t B = in.x.size(0), T = in.x.size(1);
  const Tensor each = seen(in) / counts(in);                        // [B or 1, T or 1, T]
  *in.weights = unsqueeze(contiguous(expand(each, {B, T, T})), 1);  // [B, 1, T, T]
}

Tensor AverageAttention::operator()(const AttentionInput& in) const {
  check(in);
  if (in.weights != nullptr) observe(in);
  return gated(in.x, averages(in));  // [B, T, E]
}

// ---- decoding -----------------------------------------------------------------------------------

class AverageAttention::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    total = index_select(total, 0, from_values(from, {static_cast<std::int64_t>(from.size())}));
  }

  Tensor total;            // [B, 1, E]: the sum of all positions
  std::int64_t count = 0;  // number of these positions
};

std::unique_ptr<DecodeState> AverageAttention::start(const DecodeStart& from) const {
  refuse_memory("average", from.memory);
  auto state = std::make_unique<State>();
  state->total = zeros({from.batch, 1, config_.embed}, gate.weight.dtype());
  return state;
}

Tensor AverageAttention::step(const Tensor& x, DecodeState& decode_state) const {
  State& state = dynamic_cast<State&>(decode_state);
  check({.x = x});
  const std::int64_t T = x.size(1);
  const Tensor totals = cumsum(x, 1) + state.total;  // [B, T, E]
  const Tensor count =
      reshape(cast(arange(T), x.dtype()), {T, 1}) + static_cast<double>(state.count + 1);
  if (T > 0) state.total = slice(totals, 1, T - 1, T);  // [B, 1, E]
  state.count += T;
  return gated(x, totals / count);  // [B, T, E]
}

}  // namespace heed
