#include "heed/models/importers/gpt2.h"

#include <fmt/format.h>

#include "heed/models/language_model.h"

namespace heed {
namespace {

constexpr TensorRule kGpt2Rules[] = {
    {"tokens.tokens.weight", "transformer.wte.weight"},
    {"tokens.position.weight", "transformer.wpe.weight"},
    {"decoder.layers.{}.norm1.{}", "transformer.h.{}.ln_1.{}"},
    {"decoder.layers.{}.self_attn.in_proj_{}", "transformer.h.{}.attn.c_attn.{}",
     TensorForm::transposed},
    {"decoder.layers.{}.self_attn.out_proj.{}", "transformer.h.{}.attn.c_proj.{}",
     TensorForm::transposed},
    {"decoder.layers.{}.norm2.{}", "transformer.h.{}.ln_2.{}"},
    {"decoder.layers.{}.linear1.{}", "transformer.h.{}.mlp.c_fc.{}", TensorForm::transposed},
    {"decoder.layers.{}.linear2.{}", "transformer.h.{}.mlp.c_proj.{}", TensorForm::transposed},
    {"decoder.norm.{}", "transformer.ln_f.{}"},
    {"output.weight", "lm_head.weight"},
};
// Causal masks of earlier versions.
constexpr std::string_view kGpt2Unused[] = {"h.*.attn.bias", "h.*.attn.masked_bias"};

}  // namespace

Import import_gpt2(const ForeignConfig& config, const io::TensorSource&) {
  config.expect("scale_attn_weights", true);
  config.expect("scale_attn_by_inverse_layer_idx", false);
  config.expect("add_cross_attention", false);
  LanguageModelConfig model{
      .vocabulary = config.integer("vocab_size"),
      .layers = config.integer({"n_layer", "num_hidden_layers"}),
      .block =
          BlockConfig{
              .embed = config.integer({"n_embd", "hidden_size"}),
              .heads = config.integer({"n_head", "num_attention_heads"}),
              .hidden = config.integer({"n_inner", "intermediate_size"}, 0),
              .norm = {.first = true, .eps = config.number("layer_norm_epsilon", 1e-5)},
              .activation = import_activation(config, "activation_function", "gelu_new"),
              .bias = true,
              .dropout = config.number("resid_pdrop", 0.1),
              .attention_dropout = config.number("attn_pdrop", 0.1),
              .activation_dropout = 0.0,
              .positions = fmt::format("learned max_length={}",
                                       config.integer({"n_positions", "max_position_embeddings"}))},
      .tied = config.boolean("tie_word_embeddings", true)};
  return {.model = import_choice<LanguageModel>(kLanguageModel, std::move(model)),
          .names = {.rules = kGpt2Rules, .prefix = "transformer.", .unused = kGpt2Unused}};
}

}  // namespace heed
