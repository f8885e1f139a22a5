#include "heed/attention/variants/decomposable.h"

#include "heed/attention/variants/input_checks.h"
#include "heed/base/error.h"
#include "heed/ops/choose.h"
#include "heed/ops/join.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"

namespace heed {

void DecomposableConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x, of the memory and of the result", {.min = 1});
  field("memory_embed", memory_embed, "features of the memory; 0 or embed", {.min = 0});
  field("hidden", hidden, "features of the hidden layers of F and G; 0: as embed", {.min = 0});
  field("dropout", dropout, "dropout probability of the inputs of F and G", {.min = 0, .max = 1});
}

void DecomposableConfig::validate() const {
  HEED_CHECK(embed >= 1 && hidden >= 0,
             "[decomposable] embed {}, hidden {}: embed must be at least 1, hidden at least 0",
             embed, hidden);
  HEED_CHECK(memory_embed == 0 || memory_embed == embed,
             "[decomposable] embed {} and memory_embed {}: F reads both, so they must be equal",
             embed, memory_embed);
  HEED_CHECK(dropout >= 0.0 && dropout < 1.0,
             "[decomposable] dropout {}: it must be at least 0 and below 1", dropout);
}

namespace {

// A layer of F or G.
Linear relu_layer(std::int64_t in, std::int64_t out, Generator& generator) {
  return Linear({.in = in, .out = out, .activation = Activation::relu}, generator);
}

std::int64_t hidden_of(const DecomposableConfig& config) {
  config.validate();
  return config.hidden > 0 ? config.hidden : config.embed;
}

}  // namespace

DecomposableAttention::DecomposableAttention(const Config& config, Generator& generator)
    : GlobalAttention({.embed = config.embed, .score = AlignScore::dot}, generator),
      attend_in(relu_layer(config.embed, hidden_of(config), generator)),
      attend_out(relu_layer(hidden_of(config), hidden_of(config), generator)),
      compare_in(relu_layer(2 * config.embed, hidden_of(config), generator)),
      compare_out(relu_layer(hidden_of(config), config.embed, generator)),
      dropout({.p = config.dropout}) {}

void DecomposableAttention::visit(ParameterVisitor& visitor) {
  visitor("attend_in", attend_in);
  visitor("attend_out", attend_out);
  visitor("compare_in", compare_in);
  visitor("compare_out", compare_out);
  visitor("dropout", dropout);
}

Tensor DecomposableAttention::attended(const Tensor& x) const {
  return attend_out(dropout(attend_in(dropout(x))));  // [B, T, D]
}

Tensor DecomposableAttention::queries(const Tensor& x) const { return unsqueeze(attended(x), 1); }

Tensor DecomposableAttention::keys(const Tensor& memory, std::int64_t) const {
  return unsqueeze(attended(memory), 1);  // [B, 1, Tk, D]
}

Tensor DecomposableAttention::result(const Tensor& contexts, const Tensor& x) const {
  const Tensor both = dropout(concat({x, squeeze(contexts, 1)}, -1));  // [B, Tq, 2 E]
  return compare_out(dropout(compare_in(both)));                       // [B, Tq, E]
}

Tensor DecomposableAttention::compare_texts(const ComparedText& a, const ComparedText& b) const {
  const auto aggregate = [this](const ComparedText& x, const ComparedText& memory) {
    const Tensor compared =
        (*this)({.x = x.states, .memory = memory.states, .lengths = memory.lengths});  // [B, T, E]
    const Tensor there = unsqueeze(within(x.lengths, x.states.size(1)), 2);            // [B, T, 1]
    return sum(where(there, compared, 0.0), {1});                                      // [B, E]
  };
  return concat({aggregate(a, b), aggregate(b, a)}, -1);  // [B, 2 E]
}

}  // namespace heed
