// Gemma 2 and 3 compared with transformers; their defaults.
#include "heed/models/importers/gemma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "heed/models/language_model.h"
#include "tests/models/importers/hf_case.h"
#include "tests/support/error_message.h"

namespace heed::gemma_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ImportGemma, Gemma2) { test::check_causal("gemma2"); }
TEST(ImportGemma, Gemma3) { test::check_causal("gemma3"); }

LanguageModelConfig config_of(Import (*read)(const ForeignConfig&, const io::TensorSource&),
                              std::string_view more) {
  const test::HfCase golden("gemma2");  // any tensors
  const std::string json = fmt::format(
      R"({{"vocab_size": 11, "hidden_size": 16, "num_hidden_layers": 6, "num_attention_heads": 4,
           "intermediate_size": 20{}{}}})",
      more.empty() ? "" : ", ", more);
  Import import = read({io::parse_json(json, "config.json"), "config.json"}, golden.tensors());
  import.model.validate();
  return *import.model.config_of<LanguageModel>();
}

TEST(ImportGemma, DefaultsOfGemma2) {
  const LanguageModelConfig model = config_of(import_gemma2, "");
  EXPECT_EQ(model.block.head_size, 256);
  EXPECT_EQ(model.block.layer_pattern, "LGLGLG");
  EXPECT_THAT(model.block.attention.text(),
              AllOf(HasSubstr("scale=0.0625"), HasSubstr("soft_cap=50")));
  EXPECT_THAT(model.block.local_attention->text(), HasSubstr("restricted left=4095"));
  EXPECT_FALSE(model.block.local_positions);
  EXPECT_EQ(model.output_soft_cap, 30.0);
  EXPECT_TRUE(model.tied);
  const LanguageModelConfig uncapped = config_of(
      import_gemma2, R"("final_logit_softcapping": null, "attn_logit_softcapping": null)");
  EXPECT_EQ(uncapped.output_soft_cap, 0.0);
  EXPECT_THAT(uncapped.block.attention.text(), HasSubstr("soft_cap=0"));
}

TEST(ImportGemma, DefaultsOfGemma3) {
  const LanguageModelConfig model =
      config_of(import_gemma3,
                R"("rope_scaling": {"rope_type": "linear", "factor": 8.0}, "sliding_window": 9)");
  EXPECT_EQ(model.block.layer_pattern, "LLLLLG");
  EXPECT_THAT(model.block.attention.text(), HasSubstr("qk_norm=true"));
  EXPECT_EQ(model.output_soft_cap, 0.0);
  EXPECT_EQ(model.block.positions.text(),
            "rope halves=true base=1000000 scaling_kind=linear scaling=8");
  EXPECT_EQ(model.block.local_positions->text(), "rope halves=true base=10000")
      << "scaling is for global layers";
  EXPECT_EQ(config_of(import_gemma3, R"("sliding_window_pattern": 2)").block.layer_pattern,
            "LGLGLG");
}

TEST(ImportGemma, LayersOfOneKind) {
  const auto types = [](std::string_view kind) {
    return fmt::format(R"("layer_types": ["{0}", "{0}", "{0}", "{0}", "{0}", "{0}"])", kind);
  };
  const BlockConfig local = config_of(import_gemma3, types("sliding_attention")).block;
  EXPECT_TRUE(local.layer_pattern.empty());
  EXPECT_THAT(local.attention.text(), HasSubstr("restricted"));
  EXPECT_THAT(local.positions.text(), HasSubstr("base=10000"));
  const BlockConfig global = config_of(import_gemma3, types("full_attention")).block;
  EXPECT_THAT(global.attention.text(), HasSubstr("multi_head"));
  EXPECT_THAT(global.positions.text(), HasSubstr("base=1000000"));
}

TEST(ImportGemma, RefusesOptionsThatItDoesNotCompute) {
  EXPECT_THAT(
      error_message([] { config_of(import_gemma3, R"("use_bidirectional_attention": true)"); }),
      HasSubstr("\"use_bidirectional_attention\" is true"));
  EXPECT_THAT(error_message([] { config_of(import_gemma2, R"("query_pre_attn_scalar": 0)"); }),
              HasSubstr("must be positive"));
}

}  // namespace
}  // namespace heed::gemma_test
