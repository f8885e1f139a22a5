#include "heed/attention/variants/pooling.h"

#include "heed/attention/attention.h"
#include "heed/attention/pairs.h"
#include "heed/attention/stages.h"
#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

void PoolingConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("hidden", hidden, "features of the score; 0: as embed", {.min = 0});
  field("hops", hops, "number of result vectors, each with a query of its own", {.min = 1});
  field("bias", bias, "whether the linear layer has a bias");
}

AttentionPooling::AttentionPooling(const Config& config, Generator& generator)
    : proj({.in = config.embed,
            .out = config.hidden > 0 ? config.hidden : config.embed,
            .bias = config.bias,
            .activation = Activation::tanh},
           generator),
      queries(empty({config.hops, proj.weight.out()})),
      config_(config) {
  init::kaiming_uniform(queries, generator);
  queries.requires_grad();
}

void AttentionPooling::visit(ParameterVisitor& visitor) {
  visitor("proj", proj);
  visitor("queries", queries);
}

// The rows of W2 are queries whose dot products with tanh(W1 h_j) are the scores: equal to an
// additive score of queries that are 0, but with one tanh for all hops.
AttentionPooling::Operands AttentionPooling::project(const AttentionInput& in) const {
  HEED_CHECK(!in.memory.defined() && !in.causal,
             "[pooling] {} is given: a sequence is pooled as a whole; use lengths or a mask",
             in.causal ? "causal" : "a memory");
  check_input("pooling", in, config_.embed, config_.embed);
  const std::int64_t R = queries.size(0), D = queries.size(1);
  return {.q = expand(reshape(queries, {1, 1, R, D}), {in.x.size(0), 1, R, D}),  // [B, 1, R, D]
          .k = unsqueeze(proj(in.x), 1),                                         // [B, 1, T, D]
          .v = unsqueeze(in.x, 1)};                                              // [B, 1, T, E]
}

Tensor AttentionPooling::vectors_of(const Operands& from, const AttentionInput& in) const {
  const AttentionSpec spec{.score = dot_score(), .mask = mask_of(in)};
  return squeeze(attention(from.q, from.k, from.v, spec), 1);  // [B, R, E]
}

Tensor AttentionPooling::weights_of(const Operands& from, const AttentionInput& in) const {
  const Shape pairs{from.q.size(0), 1, from.q.size(2), from.k.size(2)};
  const Tensor seen = dense_mask(mask_of(in), pairs);              // [B, 1, R, T]
  return softmax(pair_scores(from.q, from.k, dot_score(), seen));  // [B, 1, R, T]
}

Tensor AttentionPooling::operator()(const AttentionInput& in) const {
  const Operands from = project(in);
  if (in.weights != nullptr) *in.weights = weights_of(from, in).detach();
  return vectors_of(from, in);  // [B, R, E]
}

AttentionPooling::Pooled AttentionPooling::pool(const AttentionInput& in) const {
  const Operands from = project(in);
  return {.vectors = vectors_of(from, in), .weights = squeeze(weights_of(from, in), 1)};
}

Tensor pooling_penalty(const Tensor& weights) {
  HEED_CHECK(weights.rank() == 3, "[pooling_penalty] weights are {}: they must be [B, R, T]",
             to_string(weights.shape()));
  const Tensor alike = matmul(weights, transpose(weights));  // [B, R, R]
  const Tensor hops = arange(weights.size(1));
  const Tensor same = equal(unsqueeze(hops, 1), hops);          // [R, R]
  return sum(square(where(same, alike - 1.0, alike)), {1, 2});  // [B]
}

}  // namespace heed
