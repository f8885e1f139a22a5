#include "heed/models/importers/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/models/importers/importers.h"
#include "heed/models/importers/rotary.h"
#include "heed/tensor/read.h"

namespace heed {
namespace {

using io::GgufMetadata;
using io::GgufValue;
using io::Value;

// Norms of Gemma and matrices of GPT-2 are in GGUF files as heed computes with them.
constexpr TensorRule kGgufRules[] = {
    {"tokens.tokens.weight", "token_embd.weight"},
    {"tokens.position.weight", "position_embd.weight"},
    {"decoder.layers.{}.norm1.{}", "blk.{}.attn_norm.{}"},
    {"decoder.layers.{}.self_attn.q_proj_{}", "blk.{}.attn_q.{}"},
    {"decoder.layers.{}.self_attn.k_proj_{}", "blk.{}.attn_k.{}"},
    {"decoder.layers.{}.self_attn.v_proj_{}", "blk.{}.attn_v.{}"},
    {"decoder.layers.{}.self_attn.in_proj_{}", "blk.{}.attn_qkv.{}"},
    {"decoder.layers.{}.self_attn.out_proj.{}", "blk.{}.attn_output.{}"},
    {"decoder.layers.{}.self_attn.q_norm.{}", "blk.{}.attn_q_norm.{}"},
    {"decoder.layers.{}.self_attn.k_norm.{}", "blk.{}.attn_k_norm.{}"},
    {"decoder.layers.{}.post_norm1.{}", "blk.{}.post_attention_norm.{}"},
    {"decoder.layers.{}.norm2.{}", "blk.{}.ffn_norm.{}"},
    {"decoder.layers.{}.gate_proj.{}", "blk.{}.ffn_gate.{}"},
    {"decoder.layers.{}.up_proj.{}", "blk.{}.ffn_up.{}"},
    {"decoder.layers.{}.down_proj.{}", "blk.{}.ffn_down.{}"},
    {"decoder.layers.{}.linear1.{}", "blk.{}.ffn_up.{}"},
    {"decoder.layers.{}.linear2.{}", "blk.{}.ffn_down.{}"},
    {"decoder.layers.{}.post_norm2.{}", "blk.{}.post_ffw_norm.{}"},
    {"decoder.norm.{}", "output_norm.{}"},
    {"output.weight", "output.weight"},
};
constexpr std::string_view kRopeFactors = "rope_freqs.weight";
constexpr std::string_view kGgufUnused[] = {kRopeFactors};  // see rope_scaling()

struct GgufArchitecture {
  std::string_view name;        // in "general.architecture"
  std::string_view model_type;  // of Hugging Face
  std::string_view model;       // its class there
  bool interleaved = false;     // rotary pairs
  std::int64_t largest = 0;     // layers of the size whose scores have another scale
};
constexpr GgufArchitecture kGgufArchitectures[] = {
    {.name = "llama", .model_type = "llama", .model = "LlamaForCausalLM", .interleaved = true},
    {.name = "qwen2", .model_type = "qwen2", .model = "Qwen2ForCausalLM"},
    {.name = "qwen3", .model_type = "qwen3", .model = "Qwen3ForCausalLM"},
    {.name = "gemma2", .model_type = "gemma2", .model = "Gemma2ForCausalLM", .largest = 46},
    {.name = "gemma3", .model_type = "gemma3_text", .model = "Gemma3ForCausalLM", .largest = 62},
    {.name = "gpt2", .model_type = "gpt2", .model = "GPT2LMHeadModel"},
};

// A setting "ARCHITECTURE.theirs" and the key of Hugging Face; without one it is used or checked by
// its own code, or has no effect.
struct GgufSetting {
  std::string_view theirs;
  std::string_view key = {};
};
constexpr GgufSetting kGgufSettings[] = {
    {"block_count", "num_hidden_layers"},
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.value_length"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.sliding_window_pattern", "sliding_window_pattern"},
    {"attention.causal"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"rope.freq_base", "rope_theta"},
    {"rope.freq_base_swa", "rope_local_base_freq"},
    {"rope.dimension_count"},
    {"rope.scaling.type"},
    {"rope.scaling.factor"},
    {"rope.scaling.original_context_length"},
    {"rope.scaling.attn_factor"},
    {"rope.scaling.finetuned"},
    {"rope.scale_linear"},
    {"vocab_size"},
    {"expert_count"},
    {"expert_used_count"},
    {"tensor_data_layout"},
};

// The metadata of a file and the section of its architecture.
class GgufReader {
 public:
  explicit GgufReader(const io::TensorSource& tensors)
      : tensors_(tensors), metadata_(*tensors.gguf()), architecture_(find_architecture()) {}

  const GgufArchitecture& architecture() const { return architecture_; }
  std::string full(std::string_view name) const {
    return fmt::format("{}.{}", architecture_.name, name);
  }
  std::optional<std::int64_t> integer(std::string_view name) const {
    return metadata_.integer(full(name));
  }
  std::optional<double> number(std::string_view name) const { return metadata_.number(full(name)); }
  std::optional<std::string_view> text(std::string_view name) const {
    return metadata_.text(full(name));
  }
  const GgufMetadata& metadata() const { return metadata_; }
  const io::TensorSource& tensors() const { return tensors_; }

  template <typename Shown>
  [[noreturn]] void refuse(std::string_view name, const Shown& value,
                           std::string_view expected) const {
    fail("[import] {}: {} is {}: {}", tensors_.name(), io::in_quotes(full(name)), value, expected);
  }

 private:
  const GgufArchitecture& find_architecture() const {
    const std::string_view name = metadata_.text("general.architecture").value_or("");
    std::vector<std::string_view> known;
    for (const GgufArchitecture& one : kGgufArchitectures) {
      if (one.name == name) return one;
      known.push_back(one.name);
    }
    fail(
        "[import] {}: heed does not know the architecture {} (\"general.architecture\"): of GGUF "
        "files it reads {}",
        tensors_.name(), io::in_quotes(name), fmt::join(known, ", "));
  }

  const io::TensorSource& tensors_;
  const GgufMetadata& metadata_;
  const GgufArchitecture& architecture_;
};

// A single number or truth value.
Value single_value(const GgufReader& reader, std::string_view name, const GgufValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return {*whole};
  if (const auto* real = std::get_if<double>(&value.data)) return {*real};
  if (const auto* flag = std::get_if<bool>(&value.data)) return {*flag};
  const auto whole = reader.integer(name);  // throws for lists and texts
  return {*whole};
}

void check_settings(const GgufReader& reader) {
  const std::string prefix = reader.full("");
  for (const io::GgufMember& member : reader.metadata().members()) {
    if (!member.key.starts_with(prefix)) continue;
    const std::string_view name = member.key.substr(prefix.size());
    const bool known = std::ranges::any_of(
        kGgufSettings, [&](const GgufSetting& setting) { return setting.theirs == name; });
    if (!known) {
      reader.refuse(name, to_string(member.value),
                    "heed does not know this setting, which may change what the model computes");
    }
  }
  if (const auto experts = reader.integer("expert_count"); experts.value_or(0) > 0) {
    reader.refuse("expert_count", *experts, "heed computes models without experts");
  }
  if (const auto causal = reader.metadata().boolean(reader.full("attention.causal"));
      !causal.value_or(true)) {
    reader.refuse("attention.causal", false, "heed reads GGUF files of language models");
  }
  const auto keys = reader.integer("attention.key_length");
  if (const auto values = reader.integer("attention.value_length"); values && values != keys) {
    reader.refuse("attention.value_length", *values,
                  "heed needs heads of values that are as large as those of keys");
  }
}

std::int64_t gguf_head_size(const GgufReader& reader) {
  if (const auto size = reader.integer("attention.key_length")) return *size;
  const std::int64_t heads = reader.integer("attention.head_count").value_or(0);
  return heads > 0 ? reader.integer("embedding_length").value_or(0) / heads : 0;
}

// Llama 3 has no settings of its scaling in GGUF, but the factors that result from them: 1 for high
// frequencies, the full factor for low ones, between them a blend. The published settings are
// compared with the factors.
Value::Table llama3_scaling(const GgufReader& reader, double base) {
  constexpr double kLow = 1.0, kHigh = 4.0, kLength = 8192.0, kTolerance = 1e-3;
  const Tensor stored = read_tensor(reader.tensors(), kRopeFactors);
  const std::vector<float> factors = stored.to_vector<float>();
  const double pairs = static_cast<double>(factors.size());
  const double factor = factors.empty() ? 1.0 : factors.back();
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const double frequency = std::pow(base, -static_cast<double>(k) / pairs);
    const double periods = kLength * frequency / (2.0 * std::numbers::pi);
    const double blend = std::clamp((periods - kLow) / (kHigh - kLow), 0.0, 1.0);
    const double expected = 1.0 / ((1.0 - blend) / factor + blend);
    HEED_CHECK(std::abs(factors[k] - expected) <= kTolerance * expected,
               "[import] {}: factor {} of tensor '{}' is {}: heed computes those of Llama 3, of "
               "which it would be {}",
               reader.tensors().name(), k, kRopeFactors, factors[k], expected);
  }
  return {{"rope_type", {"llama3"}},
          {"factor", {factor}},
          {"low_freq_factor", {kLow}},
          {"high_freq_factor", {kHigh}},
          {"original_max_position_embeddings", {static_cast<std::int64_t>(kLength)}}};
}

Value::Table rope_scaling(const GgufReader& reader) {
  constexpr double kDefaultBase = 10000.0;
  if (const auto rotated = reader.integer("rope.dimension_count");
      rotated && *rotated != gguf_head_size(reader)) {
    reader.refuse("rope.dimension_count", *rotated, "heed rotates all features of a head");
  }
  if (reader.tensors().contains(kRopeFactors)) {
    return llama3_scaling(reader, reader.number("rope.freq_base").value_or(kDefaultBase));
  }
  const double old = reader.number("rope.scale_linear").value_or(1.0);
  const double factor = reader.number("rope.scaling.factor").value_or(old);
  const std::string_view kind = reader.text("rope.scaling.type").value_or("linear");
  if (kind == "none" || (kind == "linear" && (factor == 0.0 || factor == 1.0))) return {};
  if (kind != "linear" && kind != "yarn") {
    reader.refuse("rope.scaling.type", io::in_quotes(kind), "heed computes none, linear and yarn");
  }
  Value::Table scaling = {{"rope_type", {std::string(kind)}}, {"factor", {factor}}};
  if (const auto length = reader.integer("rope.scaling.original_context_length")) {
    scaling.push_back({"original_max_position_embeddings", {*length}});
  }
  if (const auto attention = reader.number("rope.scaling.attn_factor");
      attention && *attention != 1.0) {
    reader.refuse("rope.scaling.attn_factor", *attention, "heed computes only 1");
  }
  return scaling;
}

// The scores of Gemma's largest sizes have another scale; GGUF files do not say so.
double score_scalar(const GgufReader& reader) {
  const std::int64_t heads = reader.integer("attention.head_count").value_or(0);
  const bool is_largest = reader.integer("block_count") == reader.architecture().largest;
  if (!is_largest || heads < 1) return static_cast<double>(gguf_head_size(reader));
  return static_cast<double>(reader.integer("embedding_length").value_or(0) / heads);
}

Value::List end_tokens(const GgufMetadata& metadata) {
  constexpr std::string_view kKeys[] = {
      "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"};
  Value::List ends;
  for (const std::string_view key : kKeys) {
    if (const auto id = metadata.integer(key)) ends.push_back({*id});
  }
  return ends;
}

}  // namespace

ForeignConfig gguf_config(const io::TensorSource& tensors) {
  HEED_ASSERT(tensors.gguf() != nullptr);
  const GgufReader reader(tensors);
  check_settings(reader);
  const GgufArchitecture& architecture = reader.architecture();
  Value::Table config = {
      {"model_type", {std::string(architecture.model_type)}},
      {"architectures", {.data = Value::List{Value{.data = std::string(architecture.model)}}}}};
  for (const GgufSetting& setting : kGgufSettings) {
    if (setting.key.empty()) continue;
    const GgufValue* const value = reader.metadata().find(reader.full(setting.theirs));
    if (value == nullptr) continue;
    config.push_back({std::string(setting.key), single_value(reader, setting.theirs, *value)});
  }
  const io::TensorEntry& tokens = tensors.find("token_embd.weight");
  HEED_CHECK(tokens.shape.rank() == 2, "[import] {}: tensor '{}' is {}: expected a matrix",
             tensors.name(), tokens.name, to_string(tokens.shape));
  config.push_back({"vocab_size", {tokens.shape[0]}});
  config.push_back({"tie_word_embeddings", {!tensors.contains("output.weight")}});
  config.push_back({"attention_bias", {tensors.contains("blk.0.attn_output.bias")}});
  config.push_back({"mlp_bias", {tensors.contains("blk.0.ffn_down.bias")}});
  config.push_back({std::string(kInterleavedRope), {reader.architecture().interleaved}});
  if (Value::Table scaling = rope_scaling(reader); !scaling.empty()) {
    config.push_back({"rope_scaling", {std::move(scaling)}});
  }
  if (reader.architecture().largest > 0) {
    config.push_back({"query_pre_attn_scalar", {score_scalar(reader)}});
  }
  config.push_back({"eos_token_id", {end_tokens(reader.metadata())}});
  return {Value{.data = std::move(config)}, tensors.name()};
}

TensorNames gguf_names() { return {.rules = kGgufRules, .unused = kGgufUnused}; }

Import import_gguf(const ForeignConfig& config, const io::TensorSource& tensors) {
  Import import = find_importer(config.text("model_type"), config.source()).read(config, tensors);
  import.names = gguf_names();
  return import;
}

}  // namespace heed
