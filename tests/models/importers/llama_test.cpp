// Llama and its relatives compared with transformers; what their configs may say besides.
#include "heed/models/importers/llama.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "heed/models/language_model.h"
#include "tests/models/importers/hf_case.h"
#include "tests/support/error_message.h"

namespace heed::llama_test {
namespace {

using test::HfCase;
using testing::AllOf;
using testing::HasSubstr;

TEST(ImportLlama, Golden) { test::check_causal("llama"); }
TEST(ImportLlama, LinearScaling) { test::check_causal("llama_linear"); }
TEST(ImportLlama, Llama3Scaling) { test::check_causal("llama3"); }
TEST(ImportLlama, YarnScaling) { test::check_causal("llama_yarn"); }
TEST(ImportLlama, DynamicScaling) { test::check_causal("llama_dynamic", test::Cached::otherwise); }
TEST(ImportLlama, BiasesInSeveralFiles) { test::check_causal("llama_shards"); }
TEST(ImportLlama, Mistral) { test::check_causal("mistral"); }
TEST(ImportLlama, Qwen2) { test::check_causal("qwen2"); }
TEST(ImportLlama, Qwen2InBf16) { test::check_causal("qwen2_bf16"); }
TEST(ImportLlama, Qwen3) { test::check_causal("qwen3"); }

// ---- configs ------------------------------------------------------------------------------------

constexpr std::string_view kSizes =
    R"("vocab_size": 11, "hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 4,
       "intermediate_size": 20)";

LanguageModelConfig config_of(Import (*read)(const ForeignConfig&, const io::TensorSource&),
                              std::string_view more) {
  const HfCase golden("llama");  // any tensors
  const std::string json = fmt::format("{{{}{}{}}}", kSizes, more.empty() ? "" : ", ", more);
  Import import = read({io::parse_json(json, "config.json"), "config.json"}, golden.tensors());
  import.model.validate();
  return *import.model.config_of<LanguageModel>();
}

BlockConfig block_of(Import (*read)(const ForeignConfig&, const io::TensorSource&),
                     std::string_view more) {
  return config_of(read, more).block;
}

TEST(ImportLlama, Defaults) {
  const BlockConfig block = block_of(import_llama, "");
  EXPECT_EQ(block.attention.text(), "multi_head joint=false bias=false");
  EXPECT_EQ(block.kv_heads, 0);
  EXPECT_EQ(block.norm.eps, 1e-6);
  EXPECT_FALSE(block.bias);
  EXPECT_TRUE(block.layer_pattern.empty());
}

TEST(ImportLlama, Context) {
  EXPECT_EQ(config_of(import_llama, "").context, 0);
  EXPECT_EQ(config_of(import_llama, R"("max_position_embeddings": 30)").context, 30);
  EXPECT_EQ(config_of(import_llama, R"("max_position_embeddings": 30,
                "rope_scaling": {"type": "dynamic", "factor": 2})")
                .context,
            0)
      << "made for longer texts";
}

TEST(ImportLlama, WindowsOfMistral) {
  EXPECT_THAT(block_of(import_mistral, "").attention.text(), HasSubstr("restricted left=4095"))
      << "the default of transformers";
  EXPECT_THAT(block_of(import_mistral, R"("sliding_window": null)").attention.text(),
              HasSubstr("multi_head"));
  EXPECT_THAT(block_of(import_mistral, R"("sliding_window": 8)").attention.text(),
              HasSubstr("restricted left=7 right=0"));
}

TEST(ImportLlama, WindowsOfQwen) {
  EXPECT_THAT(block_of(import_qwen2, R"("sliding_window": 8)").attention.text(),
              HasSubstr("multi_head"))
      << "a window that is not used";
  const BlockConfig some = block_of(
      import_qwen2, R"("use_sliding_window": true, "sliding_window": 8, "max_window_layers": 3)");
  EXPECT_EQ(some.layer_pattern, "GGGL");
  EXPECT_THAT(some.attention.text(), HasSubstr("multi_head joint=false bias=false qkv_bias=true"));
  EXPECT_THAT(some.local_attention->text(),
              HasSubstr("restricted left=7 right=0 joint=false bias=false qkv_bias=true"));
  const BlockConfig all = block_of(
      import_qwen3, R"("use_sliding_window": true, "sliding_window": 8, "max_window_layers": 0)");
  EXPECT_TRUE(all.layer_pattern.empty());
  EXPECT_THAT(all.attention.text(), AllOf(HasSubstr("restricted left=7"), HasSubstr("qk_norm")));
  EXPECT_EQ(all.head_size, 128) << "the default of transformers";
}

TEST(ImportLlama, RefusesActivationsThatItDoesNotKnow) {
  EXPECT_THAT(error_message([] { block_of(import_llama, R"("hidden_act": "relu2")"); }),
              AllOf(HasSubstr("config.json"), HasSubstr("\"relu2\""), HasSubstr("silu")));
}

TEST(ImportLlama, AMissingTensorIsNamed) {
  const HfCase golden("llama");
  Import import = golden.import();
  import.model.config_of<LanguageModel>()->layers += 1;
  EXPECT_THAT(
      error_message([&] { import_model(import, golden.tensors()); }),
      AllOf(HasSubstr("hf/llama"), HasSubstr("tensor 'model.layers.2.self_attn.q_proj.weight'"),
            HasSubstr("is missing")));
}

}  // namespace
}  // namespace heed::llama_test
