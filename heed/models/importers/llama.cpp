#include "heed/models/importers/llama.h"

#include <fmt/format.h>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/models/importers/rotary.h"
#include "heed/models/importers/windows.h"
#include "heed/models/language_model.h"

namespace heed {
namespace {

constexpr TensorRule kLlamaRules[] = {
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
constexpr std::string_view kLlamaUnused[] = {"layers.*.self_attn.rotary_emb.inv_freq",
                                             "lm_head.weight"};

constexpr std::int64_t kMistralWindow = 4096;  // if a config does not mention it
constexpr std::int64_t kQwen3HeadSize = 128;

// How the attention of a model differs from Llama's.
struct LlamaDifferences {
  bool qkv_bias = false;
  bool qk_norm = false;
  std::int64_t head_size = 0;   // if the config has none; 0: embed / heads
  std::int64_t window = 0;      // 0: none
  std::int64_t windowless = 0;  // the number of layers before those with a window
};

Import import_decoder(const ForeignConfig& config, const LlamaDifferences& differences) {
  const double eps = config.number("rms_norm_eps", 1e-6);
  LanguageModelConfig model{
      .vocabulary = config.integer("vocab_size"),
      .layers = config.integer("num_hidden_layers"),
      .block = BlockConfig{.embed = config.integer("hidden_size"),
                           .heads = config.integer("num_attention_heads"),
                           .kv_heads = config.integer("num_key_value_heads", 0),
                           .head_size = config.integer("head_dim", differences.head_size),
                           .hidden = config.integer("intermediate_size"),
                           .norm = {.kind = NormKind::rms, .first = true, .eps = eps},
                           .activation = import_activation(config, "hidden_act", "silu", true),
                           .bias = config.boolean("mlp_bias", false),
                           .dropout = 0.0,
                           .attention_dropout = config.number("attention_dropout", 0.0),
                           .positions = import_rope(config)},
      .tied = config.boolean("tie_word_embeddings", false),
      .context = import_context(config)};
  // Three matrices as in the file, so that they can be used in place.
  std::string options = fmt::format("joint=false bias={}", config.boolean("attention_bias", false));
  if (differences.qkv_bias) options += " qkv_bias=true";
  if (differences.qk_norm) options += fmt::format(" qk_norm=true qk_norm_eps={}", eps);
  const auto is_local = [&](std::int64_t i) {
    return differences.window > 0 && i >= differences.windowless;
  };
  std::string pattern = import_layer_pattern(config, model.layers, is_local);
  set_windows(model.block, config, pattern, differences.window, options);
  return {.model = import_choice<LanguageModel>(kLanguageModel, std::move(model)),
          .names = {.rules = kLlamaRules, .prefix = "model.", .unused = kLlamaUnused}};
}

// Qwen has the number of a window without using it.
std::int64_t qwen_window(const ForeignConfig& config) {
  return config.boolean("use_sliding_window", false) ? config.integer("sliding_window", 0) : 0;
}

}  // namespace

Import import_llama(const ForeignConfig& config, const io::TensorSource&) {
  return import_decoder(config, {});
}

Import import_mistral(const ForeignConfig& config, const io::TensorSource&) {
  const bool is_open = io::find(config.table(), "sliding_window") == nullptr;
  return import_decoder(config,
                        {.window = is_open ? kMistralWindow : config.integer("sliding_window", 0)});
}

Import import_qwen2(const ForeignConfig& config, const io::TensorSource&) {
  return import_decoder(config, {.qkv_bias = true,
                                 .window = qwen_window(config),
                                 .windowless = config.integer("max_window_layers", 28)});
}

Import import_qwen3(const ForeignConfig& config, const io::TensorSource&) {
  return import_decoder(config, {.qk_norm = true,
                                 .head_size = kQwen3HeadSize,
                                 .window = qwen_window(config),
                                 .windowless = config.integer("max_window_layers", 28)});
}

}  // namespace heed
