// Transformer layers against PyTorch's (tools/golden/transformer.py), and what PyTorch's do not
// have: decoding, and any attention of the registry.
#include "heed/models/transformer_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/nn/golden_module.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::transformer_layer_test {
namespace {

using test::Golden;
using test::Named;

BlockConfig small() { return {.embed = 12, .heads = 3, .hidden = 20, .dropout = 0.0}; }

BlockConfig config_of(const Golden& g) {
  BlockConfig config = small();
  config.norm.first = g.text("norm_first") == "true";
  config.activation =
      g.text("activation") == "gelu" ? FeedForwardKind::gelu : FeedForwardKind::relu;
  return config;
}

TEST(TransformerLayer, GoldenEncoder) {
  for (const char* const name : {"encoder_layer_post_norm_relu", "encoder_layer_post_norm_gelu",
                                 "encoder_layer_pre_norm_relu", "encoder_layer_pre_norm_gelu"}) {
    test::check_golden(name, [](const Golden& g) -> Named {
      TransformerLayer layer(config_of(g));
      test::take_parameters(layer, g);
      return {{"y", layer({.x = g["x"], .lengths = g["lengths"]})}};
    });
  }
}

TEST(TransformerLayer, GoldenDecoder) {
  for (const char* const name : {"decoder_layer_post_norm_relu", "decoder_layer_post_norm_gelu",
                                 "decoder_layer_pre_norm_relu", "decoder_layer_pre_norm_gelu"}) {
    test::check_golden(name, [](const Golden& g) -> Named {
      TransformerLayer layer(config_of(g), LayerKind::decoder);
      test::take_parameters(layer, g);
      return {{"y", layer({.x = g["x"],
                           .causal = true,
                           .memory = g["memory"],
                           .memory_lengths = g["memory_lengths"]})}};
    });
  }
}

// Steps of one, one and then three positions, between which the two sequences change places.
Tensor decoded(const TransformerLayer& layer, const Tensor& x, LayerState state) {
  const std::vector<std::int64_t> back = {1, 0};
  const Tensor turned = from_values<std::int64_t>(back, {2});
  Tensor y = empty(x.shape());
  bool swapped = false;
  for (std::int64_t t = 0; t < x.size(1);) {
    const std::int64_t end = std::min(x.size(1), t < 2 ? t + 1 : t + 3);
    const Tensor now = clone_data(view::slice(x, 1, t, end));
    const Tensor next = layer.step(swapped ? index_select(now, 0, turned) : now, state);
    Tensor to = view::slice(y, 1, t, end);
    copy_into(to, swapped ? index_select(next, 0, turned) : next);
    state.reorder(back);
    swapped = !swapped;
    t = end;
  }
  return y;
}

TEST(TransformerLayer, AnEncoderLayerDecodesWhatTheCausalCallGives) {
  for (const bool norm_first : {false, true}) {
    for (const char* const name : {"multi_head", "restricted"}) {
      BlockConfig config = small();
      config.norm.first = norm_first;
      config.attention = name;
      const TransformerLayer layer(config);
      const Tensor x = randn({2, 9, 12});
      EXPECT_LE(test::max_relative_error(decoded(layer, x, layer.start({.batch = 2})),
                                         layer({.x = x, .causal = true})),
                1e-5);
    }
  }
}

TEST(TransformerLayer, ADecoderLayerDecodesWhatTheCausalCallGives) {
  for (const bool norm_first : {false, true}) {
    BlockConfig config = small();
    config.norm.first = norm_first;
    config.attention = "restricted left=3";
    config.cross_attention = "multi_head memory_embed=7";
    const TransformerLayer layer(config, LayerKind::decoder);
    const Tensor x = randn({2, 9, 12}), memory = randn({2, 5, 7});
    const Tensor lengths = from_values<std::int64_t>({5, 2}, {2});
    LayerState state = layer.start({.batch = 2, .memory = memory, .lengths = lengths});
    EXPECT_LE(test::max_relative_error(
                  decoded(layer, x, std::move(state)),
                  layer({.x = x, .causal = true, .memory = memory, .memory_lengths = lengths})),
              1e-5);
  }
}

TEST(TransformerLayer, DropsOnlyWhileTraining) {
  BlockConfig config = small();
  config.dropout = 0.5;
  TransformerLayer layer(config);
  const Tensor x = randn({2, 6, 12});
  EXPECT_FALSE(test::same_bits(layer({.x = x}), layer({.x = x}))) << "two masks";
  layer.eval();
  EXPECT_TRUE(test::same_bits(layer({.x = x}), layer({.x = x})));
}

TEST(TransformerLayer, EachDropoutHasItsPlace) {
  const Tensor x = randn({2, 6, 12}), memory = randn({2, 4, 12});
  for (const char* const kind : {"dropout", "attention_dropout", "activation_dropout"}) {
    BlockConfig config = small();
    config.attention_dropout = config.activation_dropout = 0.0;
    io::set_fields(config, {fmt::format("{}=0.5", kind)});
    TransformerLayer layer(config, LayerKind::decoder);
    const auto differs = [](const auto& f) { return !test::same_bits(f(), f()); };
    const std::string_view only = kind;
    EXPECT_EQ(differs([&] { return (*layer.self_attn)({.x = x}); }), only == "attention_dropout");
    EXPECT_EQ(differs([&] { return (*layer.multihead_attn)({.x = x, .memory = memory}); }),
              only == "attention_dropout");
    EXPECT_EQ(differs([&] { return layer.feed_forward(x); }), only == "activation_dropout");
    EXPECT_EQ(differs([&] { return layer.dropouts[0](x); }), only == "dropout");
    EXPECT_TRUE(differs([&] { return layer({.x = x, .memory = memory}); }));
    layer.eval();
    EXPECT_FALSE(differs([&] { return layer({.x = x, .memory = memory}); }));
  }
}

TEST(TransformerLayer, NetworksOfAllKinds) {
  const Tensor x = randn({2, 3, 12});
  for (const auto& [kind, name, activation, is_gated] : enum_names(FeedForwardKind{})) {
    BlockConfig config = small();
    config.activation = kind;
    TransformerLayer layer(config);
    const bool gated = kind == FeedForwardKind::swiglu || kind == FeedForwardKind::geglu ||
                       kind == FeedForwardKind::geglu_tanh;
    EXPECT_EQ(is_gated, gated) << name;
    ASSERT_EQ(layer.feed_forward.gated.has_value(), gated) << name;
    ASSERT_EQ(layer.feed_forward.plain.has_value(), !gated) << name;
    std::vector<std::string> names;
    for (const NamedTensor& parameter : layer.named_parameters()) names.push_back(parameter.name);
    EXPECT_THAT(names, testing::Contains(gated ? "up_proj.weight" : "linear1.weight")) << name;
  }
}

// down(act(gate) up), computed with ops alone.
TEST(TransformerLayer, AGateMultiplies) {
  const Tensor x = randn({2, 3, 12});
  for (const FeedForwardKind kind : {FeedForwardKind::swiglu, FeedForwardKind::geglu}) {
    BlockConfig config = small();
    config.activation = kind;
    const TransformerLayer layer(config);
    const GatedFeedForward& network = *layer.feed_forward.gated;
    const auto map = [](const Tensor& in, const Linear& by) {
      return linear(in, by.weight.data, {.bias = by.bias});
    };
    const Tensor gate = map(x, network.gate_proj);
    const Tensor open = kind == FeedForwardKind::swiglu ? silu(gate) : gelu(gate);
    EXPECT_LE(test::max_relative_error(layer.feed_forward(x),
                                       map(open * map(x, network.up_proj), network.down_proj)),
              1e-6);
  }
}

TEST(TransformerLayer, ShowsItsWeights) {
  const TransformerLayer layer(small(), LayerKind::decoder);
  const Tensor x = randn({2, 6, 12}), memory = randn({2, 4, 12});
  LayerWeights seen;
  const Tensor y = layer({.x = x, .causal = true, .memory = memory, .weights = &seen});
  EXPECT_TRUE(test::same_bits(y, layer({.x = x, .causal = true, .memory = memory})))
      << "observing changes nothing";
  EXPECT_TRUE(
      test::same_bits(seen.self, test::weights_of(*layer.self_attn, {.x = x, .causal = true})));
  EXPECT_EQ(to_string(seen.cross.shape()), "[2, 3, 6, 4]");
}

TEST(TransformerLayer, ConfigsNameTheAttention) {
  BlockConfig config;
  io::load_toml(R"(
    embed = 24
    heads = 6
    norm_first = true
    activation = "gelu"
    attention = "restricted left=4 right=0 kv_heads=2"
  )",
                config);
  EXPECT_EQ(config.attention.mechanism().name, "restricted");
  const TransformerLayer layer(config);
  const Tensor w = test::weights_of(*layer.self_attn, {.x = randn({1, 10, 24})});
  ASSERT_EQ(to_string(w.shape()), "[1, 6, 10, 10]");
  for (std::int64_t i = 0; i < w.numel(); ++i) {
    const std::int64_t query = i / 10 % 10, key = i % 10;
    EXPECT_EQ(w.data<float>()[i] != 0.0f, key <= query && key >= query - 4) << query << ", " << key;
  }
}

TEST(TransformerLayer, WrongUseSaysWhatIsWrong) {
  BlockConfig config = small();
  EXPECT_EQ(error_message([&] { config.attention = "restrikted"; }),
            "[attention] there is no mechanism \"restrikted\": did you mean \"restricted\"?");
  const TransformerLayer encoder(small());
  const Tensor x = randn({2, 3, 12});
  EXPECT_EQ(error_message([&] { encoder({.x = x, .memory = x}); }),
            "[transformer_layer] memory is [2, 3, 12]: an encoder layer has none; use a decoder "
            "layer");
  EXPECT_EQ(error_message([&] { encoder.start({.batch = 2, .memory = x}); }),
            "[transformer_layer] memory is [2, 3, 12]: an encoder layer has none; use a decoder "
            "layer");
  const TransformerLayer decoder(small(), LayerKind::decoder);
  const char* const kNoMemory =
      "[transformer_layer] memory is undefined: a decoder layer needs the output of the encoder";
  EXPECT_EQ(error_message([&] { decoder({.x = x}); }), kNoMemory);
  EXPECT_EQ(error_message([&] { decoder.start({.batch = 2}); }), kNoMemory);
  LayerState of_encoder = encoder.start({.batch = 2});
  LayerState of_decoder = decoder.start({.batch = 2, .memory = x});
  const char* const kOther =
      "[transformer_layer] the state is another layer's: give what start() returned";
  EXPECT_EQ(error_message([&] { decoder.step(x, of_encoder); }), kOther);
  EXPECT_EQ(error_message([&] { encoder.step(x, of_decoder); }), kOther);
  const auto flags = [] {
    BlockConfig wrong;
    io::set_fields(wrong, {"embed=12", "heads=5"});
  };
  EXPECT_THAT(error_message(flags),
              testing::HasSubstr("[block] embed 12 is not a multiple of heads 5"));
}

}  // namespace
}  // namespace heed::transformer_layer_test
