#include "heed/models/importers/llama.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/models/importers/rotary.h"
#include "heed/models/language_model.h"

namespace heed {
namespace {

constexpr TensorRule kRules[] = {
    {"tokens.tokens.weight", "model.embed_tokens.weight"},
    {"decoder.layers.{}.norm1.{}", "model.layers.{}.input_layernorm.{}"},
    {"decoder.layers.{}.self_attn.q_proj_{}", "model.layers.{}.self_attn.q_proj.{}"},
    {"decoder.layers.{}.self_attn.k_proj_{}", "model.layers.{}.self_attn.k_proj.{}"},
    {"decoder.layers.{}.self_attn.v_proj_{}", "model.layers.{}.self_attn.v_proj.{}"},
    {"decoder.layers.{}.self_attn.out_proj.{}", "model.layers.{}.self_attn.o_proj.{}"},
    {"decoder.layers.{}.self_attn.q_norm.{}", "model.layers.{}.self_attn.q_norm.{}"},
    {"decoder.layers.{}.self_attn.k_norm.{}", "model.layers.{}.self_attn.k_norm.{}"},
    {"decoder.layers.{}.norm2.{}", "model.layers.{}.post_attention_layernorm.{}"},
    {"decoder.layers.{}.gate_proj.{}", "model.layers.{}.mlp.gate_proj.{}"},
    {"decoder.layers.{}.up_proj.{}", "model.layers.{}.mlp.up_proj.{}"},
    {"decoder.layers.{}.down_proj.{}", "model.layers.{}.mlp.down_proj.{}"},
    {"decoder.norm.{}", "model.norm.{}"},
    {"output.weight", "lm_head.weight"},
};
constexpr std::string_view kUnused[] = {"layers.*.self_attn.rotary_emb.inv_freq", "lm_head.weight"};

// How the attention of a model differs from Llama's.
struct Differences {
  bool qkv_bias = false;
  bool qk_norm = false;
  std::int64_t window = 0;  // 0: none
};

std::string attention_text(const Differences& differences, double eps, bool bias) {
  // Three matrices as in the file, so that they can be used in place.
  std::string text = differences.window > 0
                         ? fmt::format("restricted left={} right=0", differences.window - 1)
                         : "multi_head";
  text += fmt::format(" joint=false bias={}", bias);
  if (differences.qkv_bias) text += " qkv_bias=true";
  if (differences.qk_norm) text += fmt::format(" qk_norm=true qk_norm_eps={}", eps);
  return text;
}

Import import_decoder(const ForeignConfig& config, const Differences& differences) {
  const double eps = config.number("rms_norm_eps", 1e-6);
  config.expect("mlp_bias", false);
  LanguageModelConfig model{
      .vocabulary = config.integer("vocab_size"),
      .layers = config.integer("num_hidden_layers"),
      .block = {.embed = config.integer("hidden_size"),
                .heads = config.integer("num_attention_heads"),
                .kv_heads = config.integer("num_key_value_heads", 0),
                .head_size = config.integer("head_dim", 0),
                .hidden = config.integer("intermediate_size"),
                .norm = {.kind = NormKind::rms, .first = true, .eps = eps},
                .activation = import_activation(config, "hidden_act", "silu", true),
                .bias = false,
                .dropout = 0.0,
                .attention_dropout = config.number("attention_dropout", 0.0),
                .attention =
                    attention_text(differences, eps, config.boolean("attention_bias", false)),
                .positions = import_rope(config)},
      .tied = config.boolean("tie_word_embeddings", false)};
  return {.model = import_choice<LanguageModel>(kLanguageModel, std::move(model)),
          .names = {.rules = kRules, .prefix = "model.", .unused = kUnused}};
}

}  // namespace

Import import_llama(const ForeignConfig& config, const io::TensorSource&) {
  return import_decoder(config, {});
}

Import import_mistral(const ForeignConfig& config, const io::TensorSource&) {
  return import_decoder(config, {.window = config.integer("sliding_window", 0)});
}

Import import_qwen2(const ForeignConfig& config, const io::TensorSource&) {
  config.expect("use_sliding_window", false);
  return import_decoder(config, {.qkv_bias = true});
}

Import import_qwen3(const ForeignConfig& config, const io::TensorSource&) {
  config.expect("use_sliding_window", false);
  return import_decoder(config, {.qk_norm = true});
}

}  // namespace heed
