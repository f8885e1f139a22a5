#include "heed/attention/variants/linear.h"

#include <algorithm>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/variants/input_checks.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/scan.h"

namespace heed {

void LinearAttentionConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("heads", heads, "heads", {.min = 1});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("bias", bias, "whether the linear layers have biases");
  field("output_activation", output_activation, "activation f of the output layer, f(W h + b)");
  field("chunk", chunk,
        "if causal: positions of a chunk, within which scores are computed for pairs", {.min = 1});
}

void LinearAttentionConfig::validate() const {
  HEED_CHECK(embed % heads == 0, "[linear] embed {} is not a multiple of heads {}", embed, heads);
}

namespace {

LinearAttentionConfig completed(LinearAttentionConfig config) {
  config.validate();
  if (config.memory_embed == 0) config.memory_embed = config.embed;
  return config;
}

LinearConfig map_of(const LinearAttentionConfig& config, std::int64_t in) {
  return {.in = in == 0 ? config.embed : in, .out = config.embed, .bias = config.bias};
}

Tensor features(const Tensor& x) { return elu(x) + 1.0; }

// x [B, H, T, D] padded with zeros at the end, or cut, to n positions.
Tensor fitted(const Tensor& x, std::int64_t n) {
  const std::int64_t T = x.size(2);
  if (T >= n) return slice(x, 2, 0, n);  // [B, H, n, D]
  return concat({x, zeros({x.size(0), x.size(1), n - T, x.size(3)}, x.dtype())}, 2);
}

// sum_j k_j v_j^T: [..., D, D + 1].
Tensor summed(const Tensor& k, const Tensor& v) { return matmul(transpose(k), v); }

// Without visible keys the divisor is 0, and so is the dividend.
Tensor divided(const Tensor& x, const Tensor& by) {
  return x / where(greater(by, scalar(0.0, by.dtype())), by, 1.0);
}

}  // namespace

LinearAttention::LinearAttention(const Config& config, Generator& generator)
    : q_proj(map_of(config, config.embed), generator),
      k_proj(map_of(config, config.memory_embed), generator),
      v_proj(map_of(config, config.memory_embed), generator),
      out_proj({.in = config.embed,
                .out = config.embed,
                .bias = config.bias,
                .activation = config.output_activation},
               generator),
      config_(completed(config)) {}

void LinearAttention::visit(ParameterVisitor& visitor) {
  visitor("q_proj", q_proj);
  visitor("k_proj", k_proj);
  visitor("v_proj", v_proj);
  visitor("out_proj", out_proj);
}

void LinearAttention::check(const AttentionInput& in) const {
  check_input("linear", in, config_.embed, config_.memory_embed);
  refuse_mask("linear", in.mask);
}

Tensor LinearAttention::query_features(const Tensor& x) const {
  return features(split_heads(q_proj(x), config_.heads));  // [B, H, Tq, D]
}

LinearAttention::KeysAndValues LinearAttention::keys_and_values(const Tensor& memory,
                                                                const Tensor& lengths) const {
  Tensor k = features(split_heads(k_proj(memory), config_.heads));  // [B, H, Tk, D]
  Tensor v = split_heads(v_proj(memory), config_.heads);            // [B, H, Tk, D]
  const Shape one_each{v.size(0), v.size(1), v.size(2), 1};
  v = concat({v, ones(one_each, v.dtype())}, -1);  // [B, H, Tk, D + 1]
  if (!lengths.defined()) return {k, v};
  const Tensor there =
      unsqueeze(unsqueeze(within(lengths, memory.size(1)), 1), 3);  // [B, 1, Tk, 1]
  return {where(there, k, 0.0), where(there, v, 0.0)};
}

// `sums` are those of the earlier positions: [B, H, D, D + 1].
Tensor LinearAttention::attend_causal(const Tensor& q, const KeysAndValues& kv,
                                      const Tensor& sums) const {
  const std::int64_t B = q.size(0), H = q.size(1), T = q.size(2), D = q.size(3);
  if (T == 0) return zeros({B, H, 0, D + 1}, q.dtype());
  const std::int64_t length = std::min(config_.chunk, T), n = (T + length - 1) / length;
  const auto chunks = [&](const Tensor& x) {
    return reshape(fitted(x, n * length), {B, H * n, length, x.size(3)});
  };
  const Tensor qs = chunks(q), ks = chunks(kv.k);  // [B, H n, length, D]
  const Tensor vs = chunks(kv.v);                  // [B, H n, length, D + 1]
  // By tiles rather than matrix products: in a product, 0 times a NaN of a later position is NaN.
  const Tensor within_chunk = attention(
      qs, ks, vs, {.score = dot_score(), .mask = causal(), .normaliser = no_normaliser()});
  Tensor before = unsqueeze(sums, 2);  // [B, H, 1, D, D + 1]
  if (n > 1) {
    const Tensor each = reshape(summed(ks, vs), {B, H, n, D, D + 1});   // of each chunk
    before = cumsum(concat({before, slice(each, 2, 0, n - 1)}, 2), 2);  // [B, H, n, D, D + 1]
  }
  const Tensor earlier = matmul(qs, reshape(before, {B, H * n, D, D + 1}));
  return slice(reshape(within_chunk + earlier, {B, H, n * length, D + 1}), 2, 0, T);
}

// The weighted sums with the divisor as last feature, [B, H, Tq, D + 1] -> [B, Tq, E].
Tensor LinearAttention::project(const Tensor& read) const {
  const std::int64_t D = head_size();
  const Tensor context = divided(slice(read, 3, 0, D), slice(read, 3, D, D + 1));  // [B, H, Tq, D]
  return out_proj(join_heads(context));                                            // [B, Tq, E]
}

namespace {

// phi(q) . phi(k), divided by the sum over the visible keys: [B, H, Tq, Tk].
Tensor weights_of(const Tensor& q, const Tensor& k, bool causal) {
  const NoGrad no_grad;
  Tensor scores = matmul(q, transpose(k));  // [B, H, Tq, Tk]
  if (causal) scores = where(not_after(scores.size(2), scores.size(3)), scores, 0.0);
  return divided(scores, sum(scores, {3}, {.keep_axes = true}));  // [B, H, Tq, Tk]
}

}  // namespace

Tensor LinearAttention::operator()(const AttentionInput& in) const {
  check(in);
  const Tensor q = query_features(in.x);  // [B, H, Tq, D]
  const KeysAndValues kv = keys_and_values(in.source(), in.lengths);
  if (in.weights != nullptr) *in.weights = weights_of(q, kv.k, in.causal);
  if (!in.causal) return project(matmul(q, summed(kv.k, kv.v)));  // [B, Tq, E]
  const std::int64_t D = head_size();
  const Tensor nothing = zeros({q.size(0), config_.heads, D, D + 1}, q.dtype());
  return project(attend_causal(q, kv, nothing));  // [B, Tq, E]
}

// ---- decoding -----------------------------------------------------------------------------------

// The sums of all positions so far, or of a memory.
class LinearAttention::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    sums = index_select(sums, 0, from_values(from, {static_cast<std::int64_t>(from.size())}));
  }

  Tensor sums;  // [B, H, D, D + 1]
  bool of_memory = false;
};

std::unique_ptr<DecodeState> LinearAttention::start(const DecodeStart& from) const {
  auto state = std::make_unique<State>();
  state->of_memory = from.memory.defined();
  if (state->of_memory) {
    const KeysAndValues kv = keys_and_values(from.memory, from.lengths);
    state->sums = summed(kv.k, kv.v);
  } else {
    const std::int64_t D = head_size();
    state->sums = zeros({from.batch, config_.heads, D, D + 1}, q_proj.weight.dtype());
  }
  return state;
}

Tensor LinearAttention::step(const Tensor& x, DecodeState& decode_state) const {
  State& state = dynamic_cast<State&>(decode_state);
  check_input("linear", {.x = x}, config_.embed, config_.embed);
  const Tensor q = query_features(x);  // [B, H, T, D]
  if (state.of_memory) return project(matmul(q, state.sums));
  const KeysAndValues kv = keys_and_values(x, {});
  const Tensor read = attend_causal(q, kv, state.sums);  // [B, H, T, D + 1]
  state.sums = state.sums + summed(kv.k, kv.v);
  return project(read);  // [B, T, E]
}

}  // namespace heed
