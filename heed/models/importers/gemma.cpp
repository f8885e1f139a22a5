#include "heed/models/importers/gemma.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/models/importers/rotary.h"
#include "heed/models/importers/windows.h"
#include "heed/models/language_model.h"

namespace heed {
namespace {

// Norms multiply by 1 + weight.
constexpr TensorRule kGemmaRules[] = {
    {"tokens.tokens.weight", "model.embed_tokens.weight"},
    {"decoder.layers.{}.norm1.{}", "model.layers.{}.input_layernorm.{}", TensorForm::less_one},
    {"decoder.layers.{}.self_attn.q_proj_{}", "model.layers.{}.self_attn.q_proj.{}"},
    {"decoder.layers.{}.self_attn.k_proj_{}", "model.layers.{}.self_attn.k_proj.{}"},
    {"decoder.layers.{}.self_attn.v_proj_{}", "model.layers.{}.self_attn.v_proj.{}"},
    {"decoder.layers.{}.self_attn.out_proj.{}", "model.layers.{}.self_attn.o_proj.{}"},
    {"decoder.layers.{}.self_attn.q_norm.{}", "model.layers.{}.self_attn.q_norm.{}",
     TensorForm::less_one},
    {"decoder.layers.{}.self_attn.k_norm.{}", "model.layers.{}.self_attn.k_norm.{}",
     TensorForm::less_one},
    {"decoder.layers.{}.post_norm1.{}", "model.layers.{}.post_attention_layernorm.{}",
     TensorForm::less_one},
    {"decoder.layers.{}.norm2.{}", "model.layers.{}.pre_feedforward_layernorm.{}",
     TensorForm::less_one},
    {"decoder.layers.{}.gate_proj.{}", "model.layers.{}.mlp.gate_proj.{}"},
    {"decoder.layers.{}.up_proj.{}", "model.layers.{}.mlp.up_proj.{}"},
    {"decoder.layers.{}.down_proj.{}", "model.layers.{}.mlp.down_proj.{}"},
    {"decoder.layers.{}.post_norm2.{}", "model.layers.{}.post_feedforward_layernorm.{}",
     TensorForm::less_one},
    {"decoder.norm.{}", "model.norm.{}", TensorForm::less_one},
    {"output.weight", "lm_head.weight"},
};

// Values of transformers for keys that a config does not have; null is none.
constexpr double kGemmaHeadSize = 256.0, kGemmaWindow = 4096.0;
double number_or_none(const ForeignConfig& config, std::string_view key, double otherwise) {
  return io::find(config.table(), key) == nullptr ? otherwise : config.number(key, 0.0);
}

// How the two differ.
struct GemmaVersion {
  bool qk_norm;
  std::int64_t period;  // every so many layers, one has no window
  double attention_cap, output_cap;
};

Import import_gemma(const ForeignConfig& config, const GemmaVersion& version) {
  config.expect("use_bidirectional_attention", false);
  const double eps = config.number("rms_norm_eps", 1e-6);
  LanguageModelConfig model{
      .vocabulary = config.integer("vocab_size"),
      .layers = config.integer("num_hidden_layers"),
      .block = BlockConfig{.embed = config.integer("hidden_size"),
                           .heads = config.integer("num_attention_heads"),
                           .kv_heads = config.integer("num_key_value_heads", 0),
                           .head_size = config.integer("head_dim",
                                                       static_cast<std::int64_t>(kGemmaHeadSize)),
                           .hidden = config.integer("intermediate_size"),
                           .norm = {.kind = NormKind::rms, .first = true, .both = true, .eps = eps},
                           .activation = import_activation(config, "hidden_activation",
                                                           "gelu_pytorch_tanh", true),
                           .bias = false,
                           .dropout = 0.0,
                           .attention_dropout = config.number("attention_dropout", 0.0)},
      .tied = config.boolean("tie_word_embeddings", true),
      .scaled_embeddings = true,
      .output_soft_cap = number_or_none(config, "final_logit_softcapping", version.output_cap),
      .context = import_context(config)};
  const double scalar = config.number("query_pre_attn_scalar", kGemmaHeadSize);
  HEED_CHECK(scalar > 0.0, "[import] {}: \"query_pre_attn_scalar\" is {}: it must be positive",
             config.source(), scalar);
  std::string options =
      fmt::format("joint=false bias={} scale={} soft_cap={}",
                  config.boolean("attention_bias", false), 1.0 / std::sqrt(scalar),
                  number_or_none(config, "attn_logit_softcapping", version.attention_cap));
  if (version.qk_norm) options += fmt::format(" qk_norm=true qk_norm_eps={}", eps);
  const std::int64_t period = config.integer("sliding_window_pattern", version.period);
  HEED_CHECK(period >= 1, "[import] {}: \"sliding_window_pattern\" is {}: it must be positive",
             config.source(), period);
  const auto is_local = [&](std::int64_t i) { return (i + 1) % period != 0; };
  set_windows(model.block, config, import_layer_pattern(config, model.layers, is_local),
              static_cast<std::int64_t>(number_or_none(config, "sliding_window", kGemmaWindow)),
              options);
  return {.model = import_choice<LanguageModel>(kLanguageModel, std::move(model)),
          .names = {.rules = kGemmaRules, .prefix = "model."}};
}

}  // namespace

Import import_gemma2(const ForeignConfig& config, const io::TensorSource&) {
  Import import = import_gemma(
      config, {.qk_norm = false, .period = 2, .attention_cap = 50.0, .output_cap = 30.0});
  import.model.config_of<LanguageModel>()->block.positions = import_rope(config);
  return import;
}

Import import_gemma3(const ForeignConfig& config, const io::TensorSource&) {
  constexpr double kGlobalBase = 1e6, kLocalBase = 1e4;
  Import import =
      import_gemma(config, {.qk_norm = true, .period = 6, .attention_cap = 0.0, .output_cap = 0.0});
  BlockConfig& block = import.model.config_of<LanguageModel>()->block;
  const ForeignConfig both = config.section("rope_parameters");
  const ForeignConfig global =
      both.has("full_attention") ? both.section("full_attention") : config.section("rope_scaling");
  const std::string far = import_rope(config, global, config.number("rope_theta", kGlobalBase));
  const std::string near = import_rope(config, both.section("sliding_attention"),
                                       config.number("rope_local_base_freq", kLocalBase));
  const bool only_local = block.layer_pattern.empty() &&
                          block.attention.mechanism().name != std::string_view("multi_head");
  block.positions = only_local ? near : far;
  if (!block.layer_pattern.empty()) block.local_positions = near;
  return import;
}

}  // namespace heed
