// Options of blocks that published models need: norms on both sides, layers that differ, positions
// that all layers share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/io/config.h"
#include "heed/models/block.h"
#include "heed/models/language_model.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::block_layers_test {
namespace {

using test::max_relative_error;
using test::row_of;
using test::same_bits;
using testing::HasSubstr;

LanguageModelConfig small(std::int64_t layers = 2) {
  LanguageModelConfig config{.vocabulary = test::kVocabulary, .layers = layers};
  config.block.embed = test::kEmbed;
  config.block.heads = test::kHeads;
  config.block.hidden = test::kHidden;
  config.block.positions = "rope";
  return config;
}

// ---- norms on both sides ------------------------------------------------------------------------

// h = x + post_norm1(attention(norm1(x))), y = h + post_norm2(feed_forward(norm2(h))).
TEST(BlockLayers, NormsOnBothSides) {
  BlockConfig block = small().block;
  block.norm = {.kind = NormKind::rms, .first = true, .both = true};
  TransformerLayer layer(block);
  ASSERT_EQ(layer.post_norms.size(), 2u);
  for (NamedTensor& parameter : layer.named_parameters()) {
    if (parameter.name.find("norm") != std::string::npos) {
      copy_into(parameter.tensor, randn(parameter.tensor.shape()));
    }
  }
  layer.eval();
  const Tensor x = randn({2, 5, test::kEmbed});
  const Tensor attended = (*layer.self_attn)({.x = layer.norms[0](x), .causal = true});
  const Tensor h = x + layer.post_norms[0](attended);
  const Tensor y = h + layer.post_norms[1](layer.feed_forward(layer.norms[1](h)));
  EXPECT_LE(max_relative_error(layer({.x = x, .causal = true}), y), 1e-5);
  const NoGrad no_grad;
  LayerState state = layer.start({.batch = 2});
  EXPECT_LE(max_relative_error(layer.step(x, state), y), 1e-5);
}

TEST(BlockLayers, NormsOnBothSidesNeedThoseBefore) {
  BlockConfig block = small().block;
  block.norm = {.first = false, .both = true};
  EXPECT_THAT(error_message([&] { block.validate(); }), HasSubstr("set norm_first too"));
}

TEST(BlockLayers, NormsOnBothSidesLearn) {
  LanguageModelConfig config = small();
  config.block.norm.both = true;
  const LanguageModel model(config);
  test::expect_learns(model, sum(square(model(test::random_ids(2, 6, 1)))));
}

// ---- layers that differ -------------------------------------------------------------------------

TEST(BlockLayers, ThePatternSaysWhichLayersAreLocal) {
  BlockConfig block = small().block;
  block.layer_pattern = "LLG";
  block.local_attention = "restricted left=2 right=0";
  block.local_positions = "rope base=100";
  block.validate();
  for (const std::int64_t layer : {0, 1, 3, 4, 6}) {
    EXPECT_EQ(block.of_layer(layer).attention.text(), "restricted left=2 right=0") << layer;
    EXPECT_EQ(block.of_layer(layer).positions.text(), "rope base=100") << layer;
  }
  for (const std::int64_t layer : {2, 5}) {
    EXPECT_EQ(block.of_layer(layer).attention.text(), block.attention.text()) << layer;
    EXPECT_EQ(block.of_layer(layer).positions.text(), "rope") << layer;
  }
  EXPECT_EQ(block.self_attentions().size(), 2u);
  block.local_positions = {};
  EXPECT_EQ(block.of_layer(0).positions.text(), "rope");
}

// A model with a local and a global layer is one of each.
TEST(BlockLayers, ModelsUseTheAttentionOfEachLayer) {
  LanguageModelConfig config = small(2);
  config.block.layer_pattern = "LG";
  config.block.local_attention = "restricted left=1 right=0";
  config.block.local_positions = "rope base=7";
  Generator generator(3);
  LanguageModel model(config, generator);
  model.eval();
  const NoGrad no_grad;
  const Tensor ids = test::random_ids(3, 8, 1);
  std::vector<LayerWeights> weights;
  const Tensor whole = model(ids, &weights);
  const std::vector<float> local = row_of(row_of(weights[0].self, 0), 0).to_vector<float>();
  const std::vector<float> global = row_of(row_of(weights[1].self, 0), 0).to_vector<float>();
  EXPECT_EQ(local[7 * 8 + 5], 0.0f) << "position 7 attends to 6 and 7";
  EXPECT_GT(local[7 * 8 + 6], 0.0f);
  EXPECT_GT(global[7 * 8 + 5], 0.0f);
  test::expect_steps_give(*model.start(3), ids, whole);

  BlockConfig first = config.block.of_layer(0);
  first.positions = "rope";  // the base of global layers
  TransformerLayer other(first);
  std::vector<NamedTensor> to = other.named_parameters();
  const std::vector<NamedTensor> from = model.decoder.layers[0].named_parameters();
  ASSERT_EQ(to.size(), from.size());
  for (std::size_t i = 0; i < to.size(); ++i) copy_into(to[i].tensor, from[i].tensor);
  other.eval();
  const Tensor x = randn({1, 8, test::kEmbed});
  EXPECT_FALSE(
      same_bits(other({.x = x, .causal = true}), model.decoder.layers[0]({.x = x, .causal = true})))
      << "local positions have an effect";
}

TEST(BlockLayers, ConfigsHaveTheKeys) {
  LanguageModelConfig config;
  io::load_toml(R"(
    norm_first = true
    norm_both = true
    activation = "geglu_tanh"
    positions = "rope base=1e6"
    shared_positions = false
    layer_pattern = "LLLLLG"
    local_attention = "restricted left=511 right=0"
    local_positions = "rope base=1e4"
    scaled_embeddings = true
    output_soft_cap = 30
  )",
                config);
  EXPECT_TRUE(config.block.norm.both);
  EXPECT_EQ(config.block.activation, FeedForwardKind::geglu_tanh);
  EXPECT_EQ(config.block.layer_pattern, "LLLLLG");
  EXPECT_EQ(config.block.local_attention->text(), "restricted left=511 right=0");
  EXPECT_EQ(config.block.local_positions->text(), "rope base=1e4");
  EXPECT_TRUE(config.scaled_embeddings);
  EXPECT_EQ(config.output_soft_cap, 30.0);
}

TEST(BlockLayers, WrongPatternsSayWhatIsWrong) {
  const auto complaint = [](auto change) {
    BlockConfig block = small().block;
    change(block);
    return error_message([&] { block.validate(); });
  };
  EXPECT_THAT(complaint([](BlockConfig& block) { block.layer_pattern = "LXG"; }),
              HasSubstr("layer_pattern \"LXG\": its letters must be G or L"));
  EXPECT_THAT(complaint([](BlockConfig& block) { block.local_attention = "average"; }),
              HasSubstr("no effect without layer_pattern"));
  EXPECT_THAT(complaint([](BlockConfig& block) { block.local_positions = "rope"; }),
              HasSubstr("no effect without layer_pattern"));
  EXPECT_THAT(complaint([](BlockConfig& block) {
                block.layer_pattern = "LG";
                block.positions = "learned";
                block.local_positions = "rope";
              }),
              HasSubstr("only in codes that act inside attention"));
  LanguageModelConfig config = small();
  config.block.layer_pattern = "LG";
  config.block.local_attention = "pointer";
  EXPECT_THAT(error_message([&] { config.validate(); }), HasSubstr("\"pointer\""))
      << "local attention must fit its place too";
}

// ---- shared positions ---------------------------------------------------------------------------

TEST(BlockLayers, AllLayersShareThePositionsOfTheFirst) {
  LanguageModelConfig config = small(3);
  config.block.positions = "t5 buckets=8 max_distance=16";
  const auto count = [&](bool shared) {
    config.block.shared_positions = shared;
    const LanguageModel model(config);
    std::int64_t found = 0;
    for (const NamedTensor& parameter : model.named_parameters()) {
      if (parameter.name.find(".position.") != std::string::npos) ++found;
    }
    return found;
  };
  EXPECT_EQ(count(false), 3);
  EXPECT_EQ(count(true), 1);
  const LanguageModel model(config);
  const auto table_of = [](const TransformerLayer& layer) {
    for (const NamedTensor& parameter : layer.named_parameters()) {
      if (parameter.name.find(".position.") != std::string::npos) return parameter.tensor;
    }
    return Tensor();
  };
  EXPECT_EQ(table_of(model.decoder.layers[2]).storage()->data(),
            table_of(model.decoder.layers[0]).storage()->data());
  test::expect_learns(model, sum(square(model(test::random_ids(2, 6, 1)))));
}

}  // namespace
}  // namespace heed::block_layers_test
