#include "heed/models/classifier.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/models/choice.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

StackConfig stack_of(const ClassifierConfig& config) {
  const PositionConfig position = parse_positions(config.positions);
  return {.layers = config.layers,
          .layer = {.embed = config.embed,
                    .heads = config.heads,
                    .hidden = config.hidden,
                    .activation = config.activation,
                    .norm_first = config.norm_first,
                    .dropout = config.dropout,
                    .self_attention = with_positions(parse_attention(config.attention), position)},
          .norm = config.norm_first};
}

const ClassifierConfig& checked(const ClassifierConfig& config) {
  config.validate();
  HEED_CHECK(config.vocabulary > 0 && config.classes > 0,
             "[classifier] a vocabulary of {} and {} classes: give both sizes", config.vocabulary,
             config.classes);
  return config;
}

// The mean over the first lengths[b] positions of each text: [B, T, E] -> [B, E].
Tensor mean_of(const Tensor& x, const Tensor& lengths) {
  if (!lengths.defined()) return mean(x, {1});
  const std::int64_t B = x.size(0), T = x.size(1);
  Tensor inside = empty({B, T, 1}, DType::boolean);
  Tensor share = empty({B, 1}, DType::f64);
  const std::vector<std::int64_t> counts = lengths.to_vector<std::int64_t>();
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t count = counts[static_cast<std::size_t>(b)];
    share.mutable_data<double>()[b] = 1.0 / static_cast<double>(std::max<std::int64_t>(1, count));
    std::fill_n(inside.mutable_data<bool>() + b * T, count, true);
    std::fill_n(inside.mutable_data<bool>() + b * T + count, T - count, false);
  }
  return sum(where(inside, x, 0.0), {1}) * cast_data(share, x.dtype());  // [B, E]
}

}  // namespace

void ClassifierConfig::fields(io::Fields& field) {
  field("vocabulary", vocabulary, "tokens; 0: as the vocabulary has", {.min = 0});
  field("classes", classes, "classes; 0: as the data has", {.min = 0});
  field("embed", embed, "features of a position", {.min = 1});
  field("heads", heads, "heads of attention", {.min = 1});
  field("hidden", hidden, "features inside the feed-forward network", {.min = 1});
  field("layers", layers, "layers", {.min = 1});
  field("activation", activation, "inside the feed-forward network");
  field("norm_first", norm_first, "norms in front of the parts (pre-norm), not behind their sums");
  field("dropout", dropout, "share of elements set to 0 in training", {.min = 0, .max = 1});
  field("attention", attention, "how positions attend to each other");
  field("positions", positions, "how positions are told apart");
}

void ClassifierConfig::validate() const {
  HEED_CHECK(embed >= 1 && heads >= 1 && embed % heads == 0,
             "[classifier] embed {} is not a multiple of heads {}", embed, heads);
  HEED_CHECK(layers >= 1, "[classifier] {} layers: one at least", layers);
  const AttentionChoice choice = parse_attention(attention);
  const Traits& traits = find_mechanism(choice.name).traits;
  HEED_CHECK(traits.form == Form::sequence && traits.self,
             "[classifier] attention \"{}\": a classifier needs one that maps a sequence to a "
             "sequence; `heed list` shows what each does",
             attention);
  with_positions(choice, parse_positions(positions));
}

Classifier::Classifier(const Config& config, Generator& generator)
    : tokens({.vocabulary = checked(config).vocabulary,
              .embed = config.embed,
              .dropout = config.dropout,
              .position = parse_positions(config.positions)},
             generator),
      encoder(stack_of(config), generator),
      scores({.in = config.embed, .out = config.classes}, generator),
      config_(config) {}

void Classifier::visit(ParameterVisitor& visitor) {
  visitor("tokens", tokens);
  visitor("encoder", encoder);
  visitor("scores", scores);
}

Tensor Classifier::operator()(const Tensor& ids, const Tensor& lengths,
                              std::vector<LayerWeights>* weights) const {
  const Tensor x = encoder({.x = tokens(ids), .lengths = lengths}, weights);  // [B, T, E]
  return scores(mean_of(x, lengths));                                         // [B, C]
}

}  // namespace heed
