#include "heed/models/importers/distilbert.h"

#include <fmt/format.h>

#include "heed/models/importers/encoder.h"

namespace heed {
namespace {

constexpr TensorRule kDistilbertRules[] = {
    {"tokens.tokens.weight", "distilbert.embeddings.word_embeddings.weight"},
    {"tokens.position.weight", "distilbert.embeddings.position_embeddings.weight"},
    {"tokens.norm.{}", "distilbert.embeddings.LayerNorm.{}"},
    {"encoder.layers.{}.self_attn.q_proj_{}", "distilbert.transformer.layer.{}.attention.q_lin.{}"},
    {"encoder.layers.{}.self_attn.k_proj_{}", "distilbert.transformer.layer.{}.attention.k_lin.{}"},
    {"encoder.layers.{}.self_attn.v_proj_{}", "distilbert.transformer.layer.{}.attention.v_lin.{}"},
    {"encoder.layers.{}.self_attn.out_proj.{}",
     "distilbert.transformer.layer.{}.attention.out_lin.{}"},
    {"encoder.layers.{}.norm1.{}", "distilbert.transformer.layer.{}.sa_layer_norm.{}"},
    {"encoder.layers.{}.linear1.{}", "distilbert.transformer.layer.{}.ffn.lin1.{}"},
    {"encoder.layers.{}.linear2.{}", "distilbert.transformer.layer.{}.ffn.lin2.{}"},
    {"encoder.layers.{}.norm2.{}", "distilbert.transformer.layer.{}.output_layer_norm.{}"},
    kDenseRule,
    {"dense.{}", "pre_classifier.{}"},
    {"scores.{}", "classifier.{}"},
    {"head.dense.{}", "vocab_transform.{}"},
    {"head.norm.{}", "vocab_layer_norm.{}"},
    {"output.{}", "vocab_projector.{}"},
};
// Heads that the model in use does not have.
constexpr std::string_view kDistilbertUnused[] = {"embeddings.position_ids", "vocab_*",
                                                  "pre_classifier.*", "classifier.*"};

}  // namespace

Import import_distilbert(const ForeignConfig& config, const io::TensorSource& tensors) {
  const FeedForwardKind activation = import_activation(config, "activation", "gelu");
  constexpr double kEps = 1e-12;  // which is no option of this architecture
  TextEncoderConfig encoder{
      .vocabulary = config.integer("vocab_size"),
      .layers = config.integer({"n_layers", "num_hidden_layers"}),
      .block = BlockConfig{.embed = config.integer({"dim", "hidden_size"}),
                           .heads = config.integer({"n_heads", "num_attention_heads"}),
                           .hidden = config.integer("hidden_dim"),
                           .norm = {.eps = kEps},
                           .activation = activation,
                           .dropout = config.number("dropout", 0.1),
                           .attention_dropout = config.number("attention_dropout", 0.1),
                           .activation_dropout = 0.0,
                           .attention = kEncoderAttention,
                           .positions = fmt::format("learned max_length={}",
                                                    config.integer("max_position_embeddings"))},
      .scaled_embeddings = false,
      .embedding_norm = true};
  return import_encoder(
      config, tensors,
      {.encoder = std::move(encoder),
       .names = {.rules = kDistilbertRules, .prefix = "distilbert.", .unused = kDistilbertUnused},
       .masked_tensor = "vocab_projector.bias",
       .masked_head = kFeedForwardKinds[static_cast<std::size_t>(activation)].activation,
       .classifier_head = Activation::relu});
}

}  // namespace heed
