#include "heed/models/reformer_block.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/suggest.h"
#include "heed/nn/init.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

constexpr double kReformerDeviation = 0.02;
constexpr std::string_view kLayerWords[] = {"lsh", "local", "full"};

// The attention that a word of the layers stands for.
AttentionChoice attention_of(const ReformerBlock& block, const ReformerLayers& layers,
                             std::string_view word) {
  if (word == "lsh") return block.lsh;
  if (word == "local") return block.local;
  if (word == "full") return "multi_head";
  const std::string_view near = nearest(word, kLayerWords);
  fail("[{}] {} has the word {}: {}", layers.model, layers.key, io::in_quotes(word),
       near.empty() ? "each layer is lsh, local or full"
                    : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace

void ReformerBlock::fields(io::Fields& field) {
  field("embed", embed, "features of a position in each of the two streams",
        {.min = 1, .max = kMaxFeatures});
  field("heads", heads, "heads of attention", {.min = 1, .max = kMaxFeatures});
  field("head_size", head_size, "features of a head; 0: embed / heads",
        {.min = 0, .max = kMaxFeatures});
  field("hidden", hidden, "features inside the feed-forward network; 0: four times embed",
        {.min = 0, .max = kMaxFeatures});
  field("activation", activation,
        "activation of the feed-forward network; the last three are gated");
  field("bias", bias, "whether linear layers and norms have biases");
  field("norm_eps", norm_eps, "added to the variance in norms", {.min = 0});
  field("dropout", dropout, "dropout probability of residual branches and embeddings",
        {.min = 0, .max = 1});
  field("attention_dropout", attention_dropout, "dropout probability of attention weights",
        {.min = 0, .max = 1});
  field("lsh", lsh, "attention of the layers lsh: a mechanism and its options");
  field("local", local, "attention of the layers local: a mechanism and its options");
  field("positions", positions, "position code and its options");
  field("feed_forward_rows", feed_forward_rows,
        "positions in the feed-forward network at a time; 0: all", {.min = 0});
  field("activations", activations,
        "what training keeps: reversible: the last layer's outputs; checkpointed: the inputs of "
        "each part; kept: all");
}

ReversibleStackConfig ReformerBlock::stack(const ReformerLayers& layers) const {
  BlockConfig block{.embed = embed,
                    .heads = heads,
                    .head_size = head_size,
                    .hidden = hidden,
                    .norm = {.first = true, .eps = norm_eps},
                    .activation = activation,
                    .bias = bias,
                    .dropout = dropout,
                    .attention_dropout = attention_dropout,
                    .positions = positions};
  ReversibleStackConfig stack{.feed_forward_rows = feed_forward_rows, .activations = activations};
  for (const std::string& word : split_options(layers.words)) {
    block.attention = attention_of(*this, layers, word);
    stack.blocks.push_back(block);
  }
  return stack;
}

TextEmbeddingConfig ReformerBlock::embedding(std::int64_t vocabulary) const {
  return {.vocabulary = vocabulary,
          .embed = embed,
          .scaled = false,
          .dropout = dropout,
          .position = positions.config()};
}

void ReformerBlock::validate(const ReformerLayers& layers) const {
  const std::vector<BlockConfig> all = stack(layers).blocks;
  HEED_CHECK(!all.empty() && std::ssize(all) <= kMaxLayers,
             "[{}] {} has {} words: give one for each layer, such as \"lsh local\"", layers.model,
             layers.key, all.size());
  for (const BlockConfig& block : all) {
    block.validate();
    check_attention(layers.model, {.key = layers.key, .causal = layers.causal}, block.attention);
    block.self_attention_of_layer();
  }
}

std::vector<AttentionChoice> attentions_of(const ReversibleStackConfig& stack) {
  std::vector<AttentionChoice> all;
  for (const BlockConfig& block : stack.blocks) all.push_back(block.attention);
  return all;
}

void initialise_reformer(ReversibleStack& stack, Generator& generator) {
  std::size_t branches = 0;
  for (const TransformerLayer& layer : stack.layers) branches += layer.norms.size();
  const double small = kReformerDeviation / std::sqrt(static_cast<double>(branches));
  for (NamedTensor& parameter : stack.named_parameters()) {
    const std::string& name = parameter.name;
    const bool ends = name.ends_with("out_proj.weight") || name.ends_with("linear2.weight") ||
                      name.ends_with("down_proj.weight");
    if (parameter.tensor.rank() == 2) {
      init::normal(parameter.tensor, ends ? small : kReformerDeviation, generator);
    }
    if (name.ends_with("bias")) init::zeros(parameter.tensor);
  }
}

OutputLayer reformer_output(std::int64_t vocabulary, std::int64_t features, Generator& generator) {
  Tensor weight = empty({vocabulary, features});  // [V, F]
  init::normal(weight, kReformerDeviation, generator);
  Tensor bias = zeros({vocabulary});
  return OutputLayer(Weight(weight.requires_grad()), bias.requires_grad());
}

}  // namespace heed
