// Multi-head attention against torch.nn.MultiheadAttention (tools/golden/transformer.py), and what
// PyTorch's does not have: grouped heads, heads of any size, decoding with extra keys.
#include "heed/attention/variants/multi_head.h"

#include <gtest/gtest.h>

#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/autograd/gradcheck.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/nn/golden_module.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::multi_head_test {
namespace {

using test::Golden;
using test::Named;

// PyTorch's attn_mask of numbers: a form with one stage more.
class Biased : public MultiHeadAttention {
 public:
  using MultiHeadAttention::MultiHeadAttention;
  Tensor bias;

 protected:
  void specialise(AttentionSpec& spec, Corner) const override {
    if (bias.defined()) spec.modifiers.push_back(dense_bias(bias));
  }
};

bool is(const Golden& g, const std::string& option, bool otherwise) {
  const auto found = g.metadata.find(option);
  return found == g.metadata.end() ? otherwise : found->second == "true";
}

Biased layer_of(const Golden& g) {
  Biased layer({.embed = static_cast<std::int64_t>(g.number("embed")),
                .heads = static_cast<std::int64_t>(g.number("heads")),
                .memory_embed = g.has("memory") ? g["memory"].size(2) : 0,
                .bias = is(g, "bias", true),
                .bias_kv = is(g, "add_bias_kv", false),
                .zero_attn = is(g, "add_zero_attn", false)});
  if (g.has("bias")) layer.bias = g["bias"];
  return layer;
}

AttentionInput input_of(const Golden& g) {
  AttentionInput in{.x = g["x"], .causal = is(g, "causal", false)};
  if (g.has("memory")) in.memory = g["memory"];
  if (g.has("lengths")) in.lengths = g["lengths"];
  if (g.has("mask")) in.mask = boolean_mask(g["mask"]);
  return in;
}

// PyTorch's three biases of queries, keys and values, which are one tensor there, under the names
// that the layer has if the memory has another size.
std::vector<std::pair<std::string, Tensor>> three_biases(const Tensor& bias, std::int64_t embed) {
  return {{"q_proj_bias", slice(bias, 0, 0, embed)},
          {"k_proj_bias", slice(bias, 0, embed, 2 * embed)},
          {"v_proj_bias", slice(bias, 0, 2 * embed, 3 * embed)}};
}

// The golden's parameters with the layer's names.
Golden with_our_names(Golden g) {
  if (!g.tensors.contains("param.q_proj_weight") || !g.has("in_proj_bias")) return g;
  for (const auto& [name, part] :
       three_biases(g["in_proj_bias"], static_cast<std::int64_t>(g.number("embed")))) {
    g.inputs[name] = part;
    g.tensors["param." + name] = part;
  }
  g.inputs.erase("in_proj_bias");
  g.tensors.erase("param.in_proj_bias");
  return g;
}

constexpr const char* kGoldens[] = {"multi_head",           "multi_head_no_bias",
                                    "multi_head_cross",     "multi_head_memory_size",
                                    "multi_head_bias_kv",   "multi_head_memory_size_no_bias",
                                    "multi_head_zero_attn", "multi_head_additive_mask",
                                    "multi_head_lengths",   "multi_head_mask",
                                    "multi_head_causal",    "multi_head_all"};

TEST(MultiHead, Golden) {
  for (const char* const name : kGoldens) {
    test::check_golden(name, [](const Golden& g) -> Named {
      Biased layer = layer_of(g);
      test::take_parameters(layer, with_our_names(g));
      Tensor weights;  // [B, H, Tq, Tk]
      AttentionInput in = input_of(g);
      in.weights = &weights;
      const Tensor y = layer(in);
      return {{"y", y}, {"weights", weights}, {"mean_weights", mean(weights, {1})}};
    });
  }
}

TEST(MultiHead, LoadsPyTorchsStateDict) {
  for (const char* const name : kGoldens) {
    const Golden g = test::load_golden(name);
    std::vector<NamedTensor> state_dict;
    for (const auto& [key, tensor] : with_our_names(g).tensors) {
      if (key.starts_with("param.")) state_dict.push_back({key.substr(6), clone_data(tensor)});
    }
    const TempDir dir;
    save_tensors(state_dict, dir / "torch.safetensors");
    Biased layer = layer_of(g);
    load_parameters(layer, dir / "torch.safetensors");
    EXPECT_LE(test::max_relative_error(layer(input_of(g)), g.tensors.at("out.y")), 1e-5) << name;
  }
}

TEST(MultiHead, GroupedHeadsAreEqualHeadsShared) {
  Generator generator(3);
  const MultiHeadAttention grouped({.embed = 12, .heads = 4, .kv_heads = 2}, generator);
  MultiHeadAttention full({.embed = 12, .heads = 4}, generator);
  // Query heads 0 and 1 read kv head 0, heads 2 and 3 kv head 1: rows of 3 features each.
  const auto shared = [](std::int64_t row) {
    if (row < 12) return row;
    const std::int64_t head = (row - 12) % 12 / 3, which = (row - 12) / 12;
    return 12 + which * 6 + head / 2 * 3 + row % 3;
  };
  for (std::int64_t row = 0; row < 36; ++row) {
    Tensor to = view::select(full.in_proj->weight.data.detach(), 0, row);
    copy_into(to, view::select(grouped.in_proj->weight.data, 0, shared(row)));
  }
  full.out_proj = grouped.out_proj;
  const Tensor x = randn({2, 7, 12});
  EXPECT_LE(test::max_relative_error(grouped({.x = x}), full({.x = x})), 1e-6);
}

// The result of single steps.
Tensor decoded(const AttentionLayer& layer, const Tensor& x, const DecodeStart& from) {
  const auto state = layer.start(from);
  Tensor y = empty(x.shape());
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    Tensor to = view::slice(y, 1, t, t + 1);
    copy_into(to, layer.step(clone_data(view::slice(x, 1, t, t + 1)), *state));
  }
  return y;
}

TEST(MultiHead, ExtraKeysAreThereWhileDecoding) {
  const MultiHeadAttention layer({.embed = 12, .heads = 3, .bias_kv = true, .zero_attn = true});
  const Tensor x = randn({2, 6, 12}), memory = randn({2, 4, 12});
  EXPECT_LE(
      test::max_relative_error(decoded(layer, x, {.batch = 2}), layer({.x = x, .causal = true})),
      1e-5);
  const Tensor lengths = from_values<std::int64_t>({0, 3}, {2});
  EXPECT_LE(test::max_relative_error(decoded(layer, x, {.memory = memory, .lengths = lengths}),
                                     layer({.x = x, .memory = memory, .lengths = lengths})),
            1e-5);
}

TEST(MultiHead, EveryPositionCodeGoesOnWhileDecoding) {
  const Tensor x = randn({2, 9, 12}), memory = randn({2, 4, 12});
  for (const PositionKind& kind : positions()) {
    MultiHeadConfig config{.embed = 12, .heads = 3};
    config.position.name = kind.name;
    const MultiHeadAttention layer(config);
    EXPECT_LE(
        test::max_relative_error(decoded(layer, x, {.batch = 2}), layer({.x = x, .causal = true})),
        1e-5)
        << kind.name;
    EXPECT_LE(test::max_relative_error(decoded(layer, x, {.memory = memory}),
                                       layer({.x = x, .memory = memory})),
              1e-5)
        << kind.name;
  }
}

TEST(MultiHead, TextsMayBeDecodedInPartsOfAnyLength) {
  const Tensor x = randn({2, 150, 12});
  for (const PositionKind& kind : positions()) {
    MultiHeadConfig config{.embed = 12, .heads = 6, .kv_heads = 3};
    config.position.name = kind.name;
    const MultiHeadAttention layer(config);
    const Tensor whole = layer({.x = x, .causal = true});
    for (const auto& [form, error] :
         {std::pair{CacheForm::f32, 1e-5}, {CacheForm::bf16, 2e-2}, {CacheForm::int8, 4e-2}}) {
      const auto state = layer.start({.batch = 2, .cache = form});
      std::int64_t t = 0;
      for (const std::int64_t part : {1, 5, 40, 1, 102, 1}) {
        const Tensor y = layer.step(clone_data(view::slice(x, 1, t, t + part)), *state);
        ASSERT_LE(test::max_relative_error(y, clone_data(view::slice(whole, 1, t, t + part))),
                  error)
            << kind.name << " from " << t;
        t += part;
      }
    }
  }
}

TEST(MultiHead, ExtraKeysHaveNoPosition) {
  MultiHeadConfig config{.embed = 12, .heads = 3, .bias_kv = true};
  config.position.name = "alibi";
  const MultiHeadAttention layer(config);
  EXPECT_EQ(error_message([&] {
              layer({.x = randn({1, 4, 12})});
            }),
            "[multi_head] the keys of bias_kv and zero_attn have no position, and position alibi "
            "needs one: leave one of them out");
}

TEST(MultiHead, HeadSizeGivesTheShapesOfTheParameters) {
  MultiHeadAttention layer(
      {.embed = 10, .heads = 4, .kv_heads = 2, .head_size = 3, .bias_kv = true});
  std::vector<std::string> shapes;
  for (const NamedTensor& named : layer.named_parameters()) {
    shapes.push_back(named.name + " " + to_string(named.tensor.shape()));
  }
  EXPECT_EQ(shapes, (std::vector<std::string>{"in_proj_weight [24, 10]", "in_proj_bias [24]",
                                              "bias_k [1, 1, 6]", "bias_v [1, 1, 6]",
                                              "out_proj.weight [10, 12]", "out_proj.bias [10]"}));
  const MultiHeadAttention cross(
      {.embed = 10, .heads = 4, .kv_heads = 2, .head_size = 3, .memory_embed = 7});
  EXPECT_EQ(cross.q_proj->weight.data.shape(), (Shape{12, 10}));
  EXPECT_EQ(cross.k_proj->weight.data.shape(), (Shape{6, 7}));
  EXPECT_EQ(cross.v_proj->weight.data.shape(), (Shape{6, 7}));
  EXPECT_FALSE(cross.in_proj);
  const Tensor x = randn({2, 5, 10});
  Tensor weights;
  EXPECT_EQ(layer({.x = x, .weights = &weights}).shape(), (Shape{2, 5, 10}));
  EXPECT_EQ(weights.shape(), (Shape{2, 4, 5, 6})) << "with the key of bias_kv";
  EXPECT_EQ(cross({.x = x, .memory = randn({2, 3, 7}), .weights = &weights}).shape(),
            (Shape{2, 5, 10}));
  EXPECT_EQ(weights.shape(), (Shape{2, 4, 5, 3}));
}

TEST(MultiHead, HeadSizeEmbedOverHeadsIsTheDefault) {
  const Tensor x = randn({2, 7, 12}), memory = randn({2, 5, 12});
  for (const std::int64_t kv_heads : {0, 2}) {
    Generator same(8), again(8);
    const MultiHeadAttention plain({.embed = 12, .heads = 4, .kv_heads = kv_heads}, same);
    const MultiHeadAttention sized({.embed = 12, .heads = 4, .kv_heads = kv_heads, .head_size = 3},
                                   again);
    EXPECT_TRUE(test::same_bits(plain({.x = x}), sized({.x = x})));
    EXPECT_TRUE(
        test::same_bits(plain({.x = x, .memory = memory}), sized({.x = x, .memory = memory})));
    EXPECT_TRUE(test::same_bits(decoded(plain, x, {.batch = 2}), decoded(sized, x, {.batch = 2})));
  }
}

TEST(MultiHead, GradientsOfHeadsOfAnySize) {
  Generator generator(9);
  const auto random = [&](const Shape& shape) {
    return normal(shape, 0.0, 1.0, generator, DType::f64).requires_grad();
  };
  for (const std::int64_t memory_embed : {0, 4}) {
    MultiHeadAttention layer(
        {.embed = 6, .heads = 2, .kv_heads = 1, .head_size = 5, .memory_embed = memory_embed},
        generator);
    layer.to(DType::f64);
    std::vector<Tensor> leaves = {random({2, 4, 6}), random({2, 3, memory_embed > 0 ? 4 : 6})};
    for (const Tensor& parameter : layer.parameters()) leaves.push_back(parameter);
    const auto f = [&](std::span<const Tensor> now) {
      std::size_t next = 2;
      const auto put = [&](const std::string&, Tensor& parameter) { parameter = now[next++]; };
      const auto pass = [](Module&) {};
      ParameterVisitor(put, pass).root(layer);
      return layer({.x = now[0], .memory = now[1]});
    };
    const GradCheckResult result = gradcheck(f, leaves);
    EXPECT_TRUE(result.ok) << "memory_embed " << memory_embed << ": " << result.message;
  }
}

TEST(MultiHead, DecodingWithHeadsOfAnySize) {
  for (const std::int64_t head_size : {1, 5, 16}) {
    const MultiHeadAttention layer(
        {.embed = 12, .heads = 4, .kv_heads = 2, .head_size = head_size, .bias_kv = true});
    const Tensor x = randn({2, 6, 12}), memory = randn({2, 4, 12});
    EXPECT_LE(
        test::max_relative_error(decoded(layer, x, {.batch = 2}), layer({.x = x, .causal = true})),
        1e-5)
        << head_size;
    EXPECT_LE(test::max_relative_error(decoded(layer, x, {.memory = memory}),
                                       layer({.x = x, .memory = memory})),
              1e-5)
        << head_size;
  }
}

TEST(MultiHead, DropsWeightsOnlyWhileTraining) {
  MultiHeadAttention layer({.embed = 12, .heads = 3, .dropout = 0.5});
  const Tensor x = randn({2, 6, 12});
  EXPECT_FALSE(test::same_bits(layer({.x = x}), layer({.x = x}))) << "two masks";
  layer.eval();
  EXPECT_TRUE(test::same_bits(layer({.x = x}), layer({.x = x})));
}

TEST(MultiHead, WrongUseSaysWhatIsWrong) {
  const auto make = [](const MultiHeadConfig& config) {
    return error_message([&] { MultiHeadAttention layer(config); });
  };
  EXPECT_EQ(
      make({.embed = 10, .heads = 4}),
      "[multi_head] embed 10 is not a multiple of heads 4: change one of them, or give head_size");
  EXPECT_EQ(
      make({.embed = 12, .heads = 0}),
      "[multi_head] embed 12 is not a multiple of heads 0: change one of them, or give head_size");
  EXPECT_EQ(make({.embed = 12, .heads = 4, .kv_heads = 3}),
            "[multi_head] heads 4 is not a multiple of kv_heads 3");
  EXPECT_EQ(make({.embed = 12, .heads = 4, .dropout = 1.0}),
            "[multi_head] dropout 1: it must be at least 0 and below 1");

  const MultiHeadAttention layer({.embed = 12, .heads = 4, .memory_embed = 7});
  EXPECT_EQ(error_message([&] {
              layer({.x = randn({2, 5, 12})});
            }),
            "[multi_head] memory is [2, 5, 12]: it must be [2, Tk, 7]");
  EXPECT_EQ(error_message([&] {
              layer.start({.memory = randn({2, 5, 12})});
            }),
            "[multi_head] memory is [2, 5, 12]: it must be [2, Tk, 7]");
  class Other : public DecodeState {
    void reorder(std::span<const std::int64_t>) override {}
  } other;
  EXPECT_EQ(error_message([&] {
              layer.step(randn({2, 1, 12}), other);
            }),
            "[multi_head] the state is another layer's: give what start() returned");
}

}  // namespace
}  // namespace heed::multi_head_test
