// Models in GGUF files: golden models of Hugging Face written as llama.cpp writes them have the
// same scores; settings that are refused.
#include "heed/models/importers/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/io/file.h"
#include "heed/ops/view.h"
#include "tests/io/gguf_builder.h"
#include "tests/models/importers/hf_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::gguf_test {
namespace {

using io::GgufBuilder;
using test::HfCase;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

// ---- golden models ------------------------------------------------------------------------------

struct Written {
  std::string_view golden, architecture;
  bool permuted = false;  // queries and keys
};

void write_settings(GgufBuilder& file, const ForeignConfig& config, std::string_view name) {
  const auto key = [&](std::string_view rest) { return fmt::format("{}.{}", name, rest); };
  file.text("general.architecture", name);
  const auto integer = [&](std::string_view rest, const ForeignConfig::Keys& keys) {
    if (config.has(keys)) file.u32(key(rest), config.integer(keys));
  };
  const auto number = [&](std::string_view rest, const ForeignConfig::Keys& keys) {
    if (config.has(keys)) file.f32(key(rest), config.number(keys));
  };
  integer("block_count", {"num_hidden_layers", "n_layer"});
  integer("context_length", {"max_position_embeddings", "n_positions"});
  integer("embedding_length", {"hidden_size", "n_embd"});
  integer("feed_forward_length", {"intermediate_size", "n_inner"});
  integer("attention.head_count", {"num_attention_heads", "n_head"});
  integer("attention.head_count_kv", "num_key_value_heads");
  integer("attention.key_length", "head_dim");
  integer("attention.value_length", "head_dim");
  integer("attention.sliding_window", "sliding_window");
  number("attention.layer_norm_rms_epsilon", "rms_norm_eps");
  number("attention.layer_norm_epsilon", "layer_norm_epsilon");
  number("attn_logit_softcapping", "attn_logit_softcapping");
  number("final_logit_softcapping", "final_logit_softcapping");
  number("rope.freq_base", "rope_theta");
  const ForeignConfig scaling = config.section("rope_scaling");
  if (scaling.has("factor")) {
    file.text(key("rope.scaling.type"), scaling.text({"rope_type", "type"}));
    file.f32(key("rope.scaling.factor"), scaling.number("factor"));
  }
}

// Features k and k + D/2 of each head become 2k and 2k + 1, in matrices and biases.
Tensor permuted(const Tensor& weight, std::int64_t heads) {
  const std::int64_t half = weight.size(0) / heads / 2;
  const Tensor parts = reshape(weight, {heads, 2, half, weight.numel() / weight.size(0)});
  return reshape(contiguous_copy(transpose(parts, 1, 2)), weight.shape());
}

void write_golden(const Written& written, const HfCase& golden, const std::filesystem::path& path) {
  const ForeignConfig config = ForeignConfig::read(golden.path() / "config_4x.json");
  GgufBuilder file;
  write_settings(file, config, written.architecture);
  const auto model = golden.model<CausalModel>();
  for (const NamedTensor& parameter : export_parameters(*model, gguf_names())) {
    Tensor value = parameter.tensor;
    const bool q = parameter.name.find("attn_q.") != std::string::npos;
    const bool k = parameter.name.find("attn_k.") != std::string::npos;
    if (written.permuted && (q || k)) {
      value = permuted(value, config.integer(q ? "num_attention_heads" : "num_key_value_heads"));
    }
    file.tensor(parameter.name, value.shape(), contiguous_copy(value).values<float>());
  }
  io::write_file(path, file.str());
}

TEST(ImportGguf, GoldenModels) {
  constexpr Written kAll[] = {{"llama", "llama", true},
                              {"llama_linear", "llama", true},
                              {"llama_shards", "llama", true},
                              {"qwen2", "qwen2"},
                              {"qwen3", "qwen3"},
                              {"gpt2", "gpt2"}};
  const NoGrad no_grad;
  for (const Written& written : kAll) {
    SCOPED_TRACE(written.golden);
    const HfCase golden{std::string(written.golden)};
    const TempDir dir;
    write_golden(written, golden, dir / "model.gguf");
    const io::TensorSource tensors = io::TensorSource::open(dir / "model.gguf");
    const Import import = import_gguf(gguf_config(tensors), tensors);
    const std::unique_ptr<Model> model = import_model(import, tensors);
    const auto& causal = dynamic_cast<const CausalModel&>(*model);
    test::expect_near(causal.output_layer()(causal(golden["in.ids"])), golden, "out.logits");
  }
}

// In GGUF the scale of scores follows from the size of heads.
TEST(ImportGguf, GoldenGemma) {
  const NoGrad no_grad;
  for (const Written& written : {Written{"gemma2", "gemma2"}, Written{"gemma3", "gemma3"}}) {
    SCOPED_TRACE(written.golden);
    const HfCase golden{std::string(written.golden)};
    const TempDir dir;
    write_golden(written, golden, dir / "model.gguf");
    const io::TensorSource tensors = io::TensorSource::open(dir / "model.gguf");
    io::Value config{.data = gguf_config(tensors).table()};
    for (io::Member& member : std::get<io::Value::Table>(config.data)) {
      if (member.key != "query_pre_attn_scalar") continue;
      EXPECT_EQ(*member.value.floating(), 6.0) << "the size of a head";
      member.value = {8.0};
    }
    const std::unique_ptr<Model> model =
        import_model(import_gguf({config, "model.gguf"}, tensors), tensors);
    const auto& causal = dynamic_cast<const CausalModel&>(*model);
    test::expect_near(causal.output_layer()(causal(golden["in.ids"])), golden, "out.logits");
  }
}

// As gguf-py names them.
TEST(ImportGguf, NamesOfTensors) {
  const auto names_of = [](const char* golden) {
    std::vector<std::string> names;
    const auto model = HfCase(golden).model<CausalModel>();
    for (const NamedTensor& one : export_parameters(*model, gguf_names())) {
      if (one.name.find("blk.1.") == std::string::npos) names.push_back(one.name);
    }
    return names;
  };
  const std::vector<std::string> gemma = names_of("gemma3");
  for (const char* const name :
       {"token_embd.weight", "blk.0.attn_norm.weight", "blk.0.attn_q.weight",
        "blk.0.attn_q_norm.weight", "blk.0.attn_k_norm.weight", "blk.0.attn_output.weight",
        "blk.0.post_attention_norm.weight", "blk.0.ffn_norm.weight", "blk.0.ffn_gate.weight",
        "blk.0.ffn_up.weight", "blk.0.ffn_down.weight", "blk.0.post_ffw_norm.weight",
        "output_norm.weight"}) {
    EXPECT_THAT(gemma, Contains(name));
  }
  const std::vector<std::string> gpt2 = names_of("gpt2");
  for (const char* const name : {"position_embd.weight", "blk.0.attn_qkv.weight",
                                 "blk.0.attn_qkv.bias", "blk.0.ffn_up.bias", "output_norm.bias"}) {
    EXPECT_THAT(gpt2, Contains(name));
  }
}

// ---- settings -----------------------------------------------------------------------------------

GgufBuilder small(std::string_view architecture = "llama") {
  GgufBuilder file;
  const auto key = [&](std::string_view rest) { return fmt::format("{}.{}", architecture, rest); };
  file.text("general.architecture", architecture);
  file.u32(key("block_count"), 2).u32(key("embedding_length"), 8);
  file.u32(key("feed_forward_length"), 12).u32(key("attention.head_count"), 2);
  file.u32(key("context_length"), 64).f32(key("attention.layer_norm_rms_epsilon"), 0.5);
  file.tensor("token_embd.weight", {3, 8}, std::vector<float>(24));
  return file;
}
ForeignConfig config_of(const GgufBuilder& file) {
  const TempDir dir;
  io::write_file(dir / "model.gguf", file.str());
  return gguf_config(io::TensorSource::open(dir / "model.gguf"));
}
std::string complaint_of(const GgufBuilder& file) {
  return error_message([&] { config_of(file); });
}

TEST(ImportGguf, SettingsHaveTheKeysOfHuggingFace) {
  GgufBuilder file = small();
  file.u32("tokenizer.ggml.eos_token_id", 2).u32("tokenizer.ggml.eot_token_id", 1);
  const ForeignConfig config = config_of(file);
  EXPECT_EQ(config.text("model_type"), "llama");
  EXPECT_EQ(config.texts("architectures"), std::vector<std::string>{"LlamaForCausalLM"});
  EXPECT_EQ(config.integer("vocab_size"), 3);
  EXPECT_EQ(config.integer("num_hidden_layers"), 2);
  EXPECT_EQ(config.integer("hidden_size"), 8);
  EXPECT_EQ(config.integer("intermediate_size"), 12);
  EXPECT_EQ(config.number("rms_norm_eps"), 0.5);
  EXPECT_TRUE(config.boolean("tie_word_embeddings", false)) << "there is no output.weight";
  EXPECT_TRUE(config.boolean("rope_interleave", false));
  EXPECT_FALSE(config.has("rope_scaling"));
  EXPECT_THAT(config.integers("eos_token_id"), testing::ElementsAre(2, 1));
  EXPECT_FALSE(config_of(small("qwen2")).boolean("rope_interleave", true));
}

TEST(ImportGguf, RefusesWhatItDoesNotCompute) {
  EXPECT_THAT(complaint_of(small("mamba")), AllOf(HasSubstr("\"mamba\""), HasSubstr("qwen2")));
  EXPECT_THAT(complaint_of(small().f32("llama.attention.scale", 0.1)),
              AllOf(HasSubstr("model.gguf"), HasSubstr("\"llama.attention.scale\" is 0.1"),
                    HasSubstr("may change what the model computes")));
  EXPECT_THAT(complaint_of(small().u32("llama.expert_count", 8)), HasSubstr("without experts"));
  EXPECT_THAT(complaint_of(small().boolean("llama.attention.causal", false)),
              HasSubstr("language models"));
  EXPECT_THAT(complaint_of(small().u32("llama.rope.dimension_count", 2)),
              HasSubstr("rotates all features"));
  EXPECT_EQ(complaint_of(small().u32("llama.rope.dimension_count", 4)), "(no error)");
  EXPECT_THAT(
      complaint_of(
          small().text("llama.rope.scaling.type", "longrope").f32("llama.rope.scaling.factor", 4)),
      AllOf(HasSubstr("\"longrope\""), HasSubstr("yarn")));
  EXPECT_THAT(
      complaint_of(
          small().u32("llama.attention.key_length", 4).u32("llama.attention.value_length", 8)),
      HasSubstr("value_length\" is 8"));
  EXPECT_THAT(complaint_of(small().i32s("llama.attention.head_count_kv", {1, 2})),
              HasSubstr("llama.attention.head_count_kv"));
}

TEST(ImportGguf, ScalingOfRotaryPositions) {
  const ForeignConfig linear = config_of(small().f32("llama.rope.scaling.factor", 4.0));
  EXPECT_EQ(linear.section("rope_scaling").text("rope_type"), "linear");
  EXPECT_EQ(linear.section("rope_scaling").number("factor"), 4.0);
  const ForeignConfig yarn = config_of(small()
                                           .text("llama.rope.scaling.type", "yarn")
                                           .f32("llama.rope.scaling.factor", 2.0)
                                           .u32("llama.rope.scaling.original_context_length", 32));
  EXPECT_EQ(yarn.section("rope_scaling").integer("original_max_position_embeddings"), 32);
  EXPECT_FALSE(
      config_of(
          small().text("llama.rope.scaling.type", "none").f32("llama.rope.scaling.factor", 2.0))
          .has("rope_scaling"));
}

// The factors of Llama 3.2, head size 64, as llama.cpp computes them.
std::vector<float> llama3_factors(double factor) {
  std::vector<float> factors;
  for (int k = 0; k < 32; ++k) {
    const double wave = 2.0 * M_PI * std::pow(500000.0, k / 32.0);
    const double low = 8192.0 / 1.0, high = 8192.0 / 4.0;
    const double smooth = (8192.0 / wave - 1.0) / (4.0 - 1.0);
    factors.push_back(static_cast<float>(wave < high  ? 1.0
                                         : wave > low ? factor
                                                      : 1.0 / ((1.0 - smooth) / factor + smooth)));
  }
  return factors;
}

TEST(ImportGguf, FactorsOfLlama3) {
  std::vector<float> factors = llama3_factors(32.0);
  GgufBuilder file = small().f32("llama.rope.freq_base", 500000.0);
  file.tensor("rope_freqs.weight", {32}, factors);
  const ForeignConfig scaling = config_of(file).section("rope_scaling");
  EXPECT_EQ(scaling.text("rope_type"), "llama3");
  EXPECT_EQ(scaling.number("factor"), 32.0);
  EXPECT_EQ(scaling.integer("original_max_position_embeddings"), 8192);
  factors[20] *= 1.01f;
  GgufBuilder other = small().f32("llama.rope.freq_base", 500000.0);
  other.tensor("rope_freqs.weight", {32}, factors);
  EXPECT_THAT(complaint_of(other), HasSubstr("factor 20 of tensor 'rope_freqs.weight'"));
}

}  // namespace
}  // namespace heed::gguf_test
