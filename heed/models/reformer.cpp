#include "heed/models/reformer.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/suggest.h"
#include "heed/models/stack_decoding.h"
#include "heed/nn/init.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

constexpr double kReformerDeviation = 0.02;

// As in the language model: matrices at the end of a branch start smaller.
void initialise(ReversibleStack& stack, Generator& generator) {
  const double small =
      kReformerDeviation / std::sqrt(2.0 * static_cast<double>(stack.layers.size()));
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

const ReformerConfig& checked(const ReformerConfig& config) {
  config.validate();
  HEED_CHECK(config.vocabulary > 0, "[reformer] a vocabulary of {}: give its size",
             config.vocabulary);
  return config;
}

OutputLayer output_of(const ReformerConfig& config, Generator& generator) {
  Tensor weight = empty({config.vocabulary, 2 * config.embed});  // [V, 2 E]
  init::normal(weight, kReformerDeviation, generator);
  Tensor bias = zeros({config.vocabulary});
  return OutputLayer(Weight(weight.requires_grad()), bias.requires_grad());
}

constexpr std::string_view kLayerWords[] = {"lsh", "local", "full"};

// The attention that a word of `layers` stands for.
AttentionChoice attention_of(const ReformerConfig& config, std::string_view word) {
  if (word == "lsh") return config.lsh;
  if (word == "local") return config.local;
  if (word == "full") return "multi_head";
  const std::string_view near = nearest(word, kLayerWords);
  fail("[reformer] layers has the word {}: {}", io::in_quotes(word),
       near.empty() ? "each layer is lsh, local or full"
                    : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace

void ReformerConfig::fields(io::Fields& field) {
  field("vocabulary", vocabulary, "tokens; 0: the size of the vocabulary", {.min = 0});
  field("layers", layers, "the attention of each layer in order: lsh, local or full");
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

std::vector<BlockConfig> ReformerConfig::blocks() const {
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
  std::vector<BlockConfig> all;
  for (const std::string& word : split_options(layers)) {
    block.attention = attention_of(*this, word);
    all.push_back(block);
  }
  return all;
}

std::vector<AttentionChoice> ReformerConfig::attentions() const {
  std::vector<AttentionChoice> all;
  for (const BlockConfig& block : blocks()) all.push_back(block.attention);
  return all;
}

void ReformerConfig::validate() const {
  const std::vector<BlockConfig> all = blocks();
  HEED_CHECK(!all.empty() && std::ssize(all) <= kMaxLayers,
             "[reformer] layers has {} words: give one for each layer, such as \"lsh local\"",
             all.size());
  for (const BlockConfig& block : all) {
    block.validate();
    check_attention("reformer", {.key = "layers", .causal = true}, block.attention);
    block.self_attention_of_layer();
  }
}

Reformer::Reformer(const Config& config, Generator& generator)
    : tokens({.vocabulary = checked(config).vocabulary,
              .embed = config.embed,
              .scaled = false,
              .dropout = config.dropout,
              .position = config.positions.config()},
             generator),
      decoder({.blocks = config.blocks(),
               .feed_forward_rows = config.feed_forward_rows,
               .activations = config.activations},
              generator),
      output(output_of(config, generator)),
      config_(config) {
  initialise(decoder, generator);
}

ModelChoice Reformer::choice() const { return choice_of<Reformer>(kReformer, config_); }

void Reformer::visit(ParameterVisitor& visitor) {
  visitor("tokens", tokens);
  visitor("decoder", decoder);
  visitor("output", output);
}

Tensor Reformer::operator()(const Tensor& ids, std::vector<LayerWeights>* weights) const {
  return decoder({.x = tokens(ids), .causal = true}, weights);  // [B, T, 2 E]
}

std::unique_ptr<Decoding> Reformer::start(std::int64_t batch, CacheForm cache) const {
  return decode_with_state(tokens, decoder, {.batch = batch, .cache = cache});
}

}  // namespace heed
