// The config of a block: its keys in the section of a model, the checks of attention, and a Llama
// block made by a config alone.
#include "heed/models/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/io/config.h"
#include "heed/models/classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/transformer.h"
#include "heed/ops/elementwise.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::block_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// ---- keys ---------------------------------------------------------------------------------------

TEST(Block, ItsKeysStandInTheSectionOfTheModel) {
  TransformerConfig transformer;
  io::load_toml(R"(
    encoder_layers = 2
    embed = 32
    heads = 4
    kv_heads = 2
    head_size = 6
    hidden = 48
    activation = "geglu"
    norm = "rms"
    norm_first = true
    norm_eps = 1e-6
    final_norm = false
    bias = false
    dropout = 0.3
    attention_dropout = 0.2
    activation_dropout = 0.0
    attention = "restricted left=5"
    cross_attention = "multi_head dropout=0.4"
    positions = "rope base=500"
  )",
                transformer);
  const BlockConfig& block = transformer.block;
  EXPECT_EQ(block.embed, 32);
  EXPECT_EQ(block.heads, 4);
  EXPECT_EQ(block.kv_heads, 2);
  EXPECT_EQ(block.head_size, 6);
  EXPECT_EQ(block.hidden, 48);
  EXPECT_EQ(block.activation, FeedForwardKind::geglu);
  EXPECT_EQ(block.norm.kind, NormKind::rms);
  EXPECT_TRUE(block.norm.first);
  EXPECT_EQ(block.norm.eps, 1e-6);
  EXPECT_EQ(block.norm.final, false);
  EXPECT_FALSE(block.bias);
  EXPECT_EQ(block.dropout, 0.3);
  EXPECT_EQ(block.attention_dropout, 0.2);
  EXPECT_EQ(block.activation_dropout, 0.0);
  EXPECT_EQ(block.attention.text(), "restricted left=5");
  EXPECT_EQ(block.cross_attention.text(), "multi_head dropout=0.4");
  EXPECT_EQ(block.positions.text(), "rope base=500");
  EXPECT_EQ(block.positions.config().base, 500.0);
  for (const io::FieldInfo& field : io::list_fields(transformer)) {
    EXPECT_THAT(field.path, testing::Not(HasSubstr("."))) << "no section of its own";
  }
}

// The keys of the version before blocks, all of them, in each model.
TEST(Block, FormerConfigsLoad) {
  TransformerConfig transformer;
  io::load_toml(R"(
    source_vocabulary = 11
    target_vocabulary = 11
    padding = 3
    embed = 16
    heads = 2
    hidden = 20
    encoder_layers = 1
    decoder_layers = 2
    activation = "gelu"
    norm_first = true
    final_norm = true
    dropout = 0.2
    attention_dropout = "none"
    activation_dropout = 0.1
    tied = "three"
    encoder_attention = "restricted left=8 right=8"
    decoder_attention = "multi_head"
    cross_attention = "multi_head"
    positions = "sinusoidal"
  )",
                transformer);
  EXPECT_TRUE(transformer.block.norm.first);
  EXPECT_EQ(transformer.block.norm.final, true);
  EXPECT_EQ(transformer.encoder_block().attention.text(), "restricted left=8 right=8");
  EXPECT_EQ(transformer.decoder_block().attention.text(), "multi_head");
  EXPECT_FALSE(transformer.block.attention_dropout.has_value());
  EXPECT_EQ(error_message([&] { Transformer model(transformer); }), "(no error)");

  LanguageModelConfig language;
  io::load_toml(R"(
    vocabulary = 11
    embed = 16
    heads = 2
    hidden = 0
    layers = 1
    activation = "gelu"
    norm_first = true
    bias = false
    dropout = 0.2
    tied = true
    attention = "multi_head"
    positions = "learned max_length=16"
  )",
                language);
  EXPECT_EQ(error_message([&] { LanguageModel model(language); }), "(no error)");

  ClassifierConfig classifier;
  io::load_toml(R"(
    vocabulary = 11
    classes = 3
    embed = 16
    heads = 2
    hidden = 20
    layers = 1
    activation = "gelu"
    norm_first = true
    dropout = 0.2
    attention = "multi_head"
    positions = "sinusoidal"
  )",
                classifier);
  EXPECT_EQ(error_message([&] { Classifier model(classifier); }), "(no error)");
}

TEST(Block, DefaultsOfSizesAndNorms) {
  BlockConfig block{.embed = 24, .heads = 4};
  EXPECT_EQ(block.hidden_size(), 96);
  EXPECT_FALSE(block.has_final_norm());
  block.norm.first = true;
  EXPECT_TRUE(block.has_final_norm());
  block.norm.final = false;
  EXPECT_FALSE(block.has_final_norm());
  block.hidden = 7;
  EXPECT_EQ(block.hidden_size(), 7);
  EXPECT_EQ(TransformerConfig{}.block.hidden_size(), 2048);
}

TEST(Block, WrongSizesSayWhatIsWrong) {
  const auto complaint = [](BlockConfig block) { return error_message([&] { block.validate(); }); };
  EXPECT_THAT(complaint({.embed = 16, .heads = 3}),
              AllOf(HasSubstr("embed 16 is not a multiple of heads 3"), HasSubstr("head_size")));
  EXPECT_EQ(complaint({.embed = 16, .heads = 3, .head_size = 4}), "(no error)");
  EXPECT_THAT(complaint({.dropout = 1.0}), HasSubstr("dropout 1"));
  EXPECT_THAT(complaint({.attention_dropout = -0.5}), HasSubstr("dropout -0.5"));
  EXPECT_THAT(complaint({.activation_dropout = 1.5}), HasSubstr("dropout 1.5"));
}

// ---- the attention of layers --------------------------------------------------------------------

std::string option(const AttentionChoice& attention, std::string_view name) {
  for (const io::FieldInfo& field : attention.options()) {
    if (field.path == name) return field.value;
  }
  return "(none)";
}

TEST(Block, AttentionTakesTheSizesOfTheBlock) {
  const BlockConfig block{.embed = 32,
                          .heads = 4,
                          .kv_heads = 2,
                          .head_size = 6,
                          .bias = false,
                          .dropout = 0.3,
                          .attention = "restricted left=5 heads=8",
                          .positions = "rope base=500"};
  const AttentionChoice self = block.self_attention_of_layer();
  EXPECT_EQ(option(self, "embed"), "32");
  EXPECT_EQ(option(self, "heads"), "8") << "a layer's own option wins";
  EXPECT_EQ(option(self, "kv_heads"), "2");
  EXPECT_EQ(option(self, "head_size"), "6");
  EXPECT_EQ(option(self, "bias"), "false");
  EXPECT_EQ(option(self, "dropout"), "0.3");
  EXPECT_EQ(option(self, "left"), "5");
  EXPECT_THAT(option(self, "position.name"), HasSubstr("rope"));
  const AttentionChoice cross = block.cross_attention_of_layer();
  EXPECT_EQ(option(cross, "heads"), "4");
  EXPECT_THAT(option(cross, "position.name"), HasSubstr("none")) << "positions do not apply to it";
}

TEST(Block, AttentionDropoutIsThatOfTheBlockUnlessGiven) {
  BlockConfig block{.dropout = 0.3, .attention_dropout = 0.1};
  EXPECT_EQ(option(block.self_attention_of_layer(), "dropout"), "0.1");
  EXPECT_EQ(option(block.cross_attention_of_layer(), "dropout"), "0.1");
  block.attention_dropout = {};
  EXPECT_EQ(option(block.self_attention_of_layer(), "dropout"), "0.3");
}

TEST(Block, PlacesNeedMechanismsThatFit) {
  const auto complaint = [](const AttentionPlace& place, const char* attention) {
    return error_message([&] { check_attention("model", place, attention); });
  };
  const AttentionPlace self{.key = "attention"};
  const AttentionPlace causal{.key = "decoder_attention", .causal = true};
  const AttentionPlace cross{.key = "cross_attention", .cross = true};
  EXPECT_EQ(complaint(self, "multi_head"), "(no error)");
  EXPECT_EQ(complaint(causal, "average"), "(no error)");
  EXPECT_THAT(complaint(self, "pointer"),
              AllOf(HasSubstr("[model] attention \"pointer\""),
                    HasSubstr("maps a sequence to a sequence"), HasSubstr("heed list")));
  EXPECT_THAT(complaint(cross, "average"),
              AllOf(HasSubstr("[model] cross_attention"), HasSubstr("attends to a memory")));
  EXPECT_EQ(complaint(cross, "multi_head"), "(no error)");
}

TEST(Block, OptionsWithoutEffectAreErrors) {
  const BlockConfig defaults;
  const auto complaint = [&](const BlockConfig& block, const std::vector<AttentionChoice>& used) {
    return error_message([&] { check_used("model", block, defaults, used); });
  };
  struct Unused {
    const char* key;
    BlockConfig block;
    const char* attention;  // has no such option
  };
  const Unused all[] = {{"heads", {.heads = 4}, "average"},
                        {"kv_heads", {.kv_heads = 2}, "average"},
                        {"head_size", {.head_size = 16}, "average"},
                        {"attention_dropout", {.attention_dropout = 0.5}, "linear"}};
  for (const auto& [key, block, attention] : all) {
    EXPECT_THAT(complaint(block, {attention}),
                AllOf(HasSubstr(fmt::format("[model] {} has no effect", key)),
                      HasSubstr(fmt::format("\"{}\"", attention)), HasSubstr("leave it out")));
    EXPECT_EQ(complaint(block, {attention, "multi_head"}), "(no error)") << key << " has an effect";
    EXPECT_EQ(complaint(defaults, {attention}), "(no error)") << "a default is no request";
  }
}

TEST(Block, ModelsRefuseOptionsWithoutEffect) {
  LanguageModelConfig config{.vocabulary = 11};
  EXPECT_EQ(error_message([&] { io::set_fields(config, {"attention=average"}); }), "(no error)");
  EXPECT_THAT(error_message([&] { io::set_fields(config, {"kv_heads=2"}); }),
              HasSubstr("[language_model] kv_heads has no effect"));
  TransformerConfig transformer;
  EXPECT_EQ(error_message([&] {
              io::set_fields(transformer, {"encoder_attention=average", "heads=4"});
            }),
            "(no error)")
      << "the decoder has heads";
}

// A model whose attention has no heads may have any size.
TEST(Block, AttentionWithoutHeadsNeedsNoMultipleOfThem) {
  LanguageModelConfig config{.vocabulary = 11, .layers = 1};
  EXPECT_EQ(error_message([&] {
              io::set_fields(config, {"attention=average", "embed=16"});
            }),
            "(no error)");
}

// ---- a Llama block ------------------------------------------------------------------------------

LanguageModelConfig llama() {
  LanguageModelConfig config;
  io::load_toml(R"(
    vocabulary = 11
    layers = 1
    embed = 16
    heads = 4
    kv_heads = 2
    hidden = 20
    norm = "rms"
    norm_first = true
    norm_eps = 1e-6
    activation = "swiglu"
    bias = false
    positions = "rope"
  )",
                config);
  return config;
}

TEST(Block, ALlamaBlockHasItsParameters) {
  const LanguageModel model(llama());
  std::vector<std::string> all;
  for (const NamedTensor& parameter : model.named_parameters()) {
    all.push_back(fmt::format("{} {}", parameter.name, to_string(parameter.tensor.shape())));
  }
  EXPECT_THAT(all, ElementsAre("tokens.tokens.weight [11, 16]",
                               "decoder.layers.0.self_attn.in_proj_weight [32, 16]",
                               "decoder.layers.0.self_attn.out_proj.weight [16, 16]",
                               "decoder.layers.0.gate_proj.weight [20, 16]",
                               "decoder.layers.0.up_proj.weight [20, 16]",
                               "decoder.layers.0.down_proj.weight [16, 20]",
                               "decoder.layers.0.norm1.weight [16]",
                               "decoder.layers.0.norm2.weight [16]", "decoder.norm.weight [16]"));
}

// y = h + down(silu(gate(n)) up(n)), h = x + attention(rms(x)), n = rms(h).
TEST(Block, ALlamaBlockComputesWhatItShould) {
  const LanguageModelConfig config = llama();
  Generator generator(3);
  const TransformerLayer layer(config.block, LayerKind::encoder, generator);
  const Tensor x = randn({2, 5, 16});
  const RmsNorm norm({.size = 16, .eps = 1e-6});
  const auto attention = make_attention(
      "multi_head", {"embed=16", "heads=4", "kv_heads=2", "bias=false", "position.name=rope"});
  const auto from = layer.self_attn->named_parameters();
  auto to = attention->named_parameters();
  ASSERT_EQ(to.size(), from.size());
  for (std::size_t i = 0; i < to.size(); ++i) copy_into(to[i].tensor, from[i].tensor);
  const Tensor h = x + (*attention)({.x = norm(x), .causal = true});
  const GatedFeedForward& network = *layer.feed_forward.gated;
  const Tensor n = norm(h);
  const Tensor y =
      h + network.down_proj(silu(network.gate_proj.weight.product(n)) * network.up_proj(n));
  EXPECT_LE(test::max_relative_error(layer({.x = x, .causal = true}), y), 1e-5);
}

TEST(Block, ALlamaModelLearnsAndDecodes) {
  Generator generator(11);
  LanguageModel model(llama(), generator);
  const Tensor ids = test::random_ids(3, 8, 1);
  test::expect_learns(model, sum(square(model(ids))));
  model.eval();
  const NoGrad no_grad;
  test::expect_steps_give(*model.start(3), ids, model(ids));
}

}  // namespace
}  // namespace heed::block_test
