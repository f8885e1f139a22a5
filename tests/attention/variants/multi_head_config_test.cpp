// The options of multi-head attention that published models need, against a composition of ops.
#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/positions/t5.h"
#include "heed/attention/variants/multi_head.h"
#include "heed/attention/variants/restricted.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::multi_head_config_test {
namespace {

using test::max_relative_error;

enum Part { kQuery, kKey, kValue };

// The rows of the projection of queries, keys or values.
Linear projection(const MultiHeadAttention& layer, const MultiHeadConfig& config, Part part) {
  if (!layer.in_proj) {
    return *(part == kQuery ? layer.q_proj : part == kKey ? layer.k_proj : layer.v_proj);
  }
  const std::int64_t D = config.head_size, H = config.heads, G = config.kv_heads;
  const std::int64_t begin = part == kQuery ? 0 : (H + (part - 1) * G) * D;
  const std::int64_t end = begin + (part == kQuery ? H : G) * D;
  const Linear& all = *layer.in_proj;
  return Linear(all.weight.rows(begin, end),
                all.bias.defined() ? slice(all.bias, 0, begin, end) : Tensor());
}

// Heads of queries, keys or values, as many as query heads: [B, H, T, D].
Tensor heads_of(const MultiHeadAttention& layer, const MultiHeadConfig& config, Part part,
                const Tensor& x) {
  const std::int64_t B = x.size(0), T = x.size(1), D = config.head_size, H = config.heads;
  const std::int64_t heads = part == kQuery ? H : config.kv_heads;
  const Linear linear = projection(layer, config, part);
  Tensor y = matmul(x, transpose(linear.weight.data));
  if (linear.bias.defined()) y = y + linear.bias;
  y = transpose(reshape(y, {B, T, heads, D}), 1, 2);  // [B, H or G, T, D]
  if (config.qk_norm && part != kValue) {
    const RmsNorm& norm = part == kQuery ? *layer.q_norm : *layer.k_norm;
    const Tensor square_mean = mean(square(y), {3}, {.keep_axes = true});
    y = y * rsqrt(square_mean + config.qk_norm_eps) * norm.weight;
  }
  if (layer.position && part != kValue) y = layer.position->rotate(y);
  y = expand(reshape(y, {B, heads, 1, T, D}), {B, heads, H / heads, T, D});
  return reshape(y, {B, H, T, D});
}

// T5's term of the scores: [H, Tq, Tk].
Tensor t5_term(const T5Relative& code, const MultiHeadConfig& config, std::int64_t Tq,
               std::int64_t Tk) {
  const T5Options options{.max_distance = config.position.max_distance};
  Tensor term = empty({config.heads, Tq, Tk}, DType::f64);
  double* to = term.mutable_data<double>();
  for (std::int64_t h = 0; h < config.heads; ++h) {
    for (std::int64_t i = 0; i < Tq; ++i) {
      for (std::int64_t j = 0; j < Tk; ++j) {
        const std::int64_t bucket = t5_bucket(j - i, config.position.buckets, options);
        *to++ = code.weight.data<double>()[bucket * config.heads + h];
      }
    }
  }
  return term;
}

// What the options say, in f64: [B, Tq, E].
Tensor composed(const MultiHeadAttention& layer, const MultiHeadConfig& config,
                const AttentionInput& in) {
  const Tensor q = heads_of(layer, config, kQuery, in.x);  // [B, H, Tq, D]
  const Tensor k = heads_of(layer, config, kKey, in.source());
  const Tensor v = heads_of(layer, config, kValue, in.source());
  const std::int64_t Tq = q.size(2), Tk = k.size(2);
  const double root = std::sqrt(static_cast<double>(config.head_size));
  Tensor scores = matmul(q, transpose(k)) * (config.scale > 0.0 ? config.scale : 1.0 / root);
  if (const auto* const t5 = dynamic_cast<const T5Relative*>(layer.position.get())) {
    scores = scores + t5_term(*t5, config, Tq, Tk);
  }
  if (config.soft_cap > 0.0) scores = tanh(scores / config.soft_cap) * config.soft_cap;
  if (in.causal) {
    Tensor hidden = zeros({Tq, Tk}, DType::f64);
    for (std::int64_t i = 0; i < Tq; ++i) {
      for (std::int64_t j = i + 1; j < Tk; ++j) {
        hidden.mutable_data<double>()[i * Tk + j] = -1e30;
      }
    }
    scores = scores + hidden;
  }
  const Tensor joined = join_heads(matmul(softmax(scores), v));  // [B, Tq, H D]
  const Tensor y = matmul(joined, transpose(layer.out_proj.weight.data));
  return layer.out_proj.bias.defined() ? y + layer.out_proj.bias : y;
}

// Every option alone and together; sizes are written out because the composition reads them.
std::vector<std::pair<std::string, MultiHeadConfig>> cases() {
  const MultiHeadConfig plain{.embed = 12, .heads = 4, .kv_heads = 2, .head_size = 6};
  std::vector<std::pair<std::string, MultiHeadConfig>> all;
  const auto add = [&](const std::string& name, auto change) {
    MultiHeadConfig config = plain;
    change(config);
    all.emplace_back(name, config);
  };
  add("plain", [](MultiHeadConfig&) {});
  add("joint", [](MultiHeadConfig& c) { c.joint = false; });
  add("qkv_bias", [](MultiHeadConfig& c) {
    c.bias = false;
    c.qkv_bias = true;
  });
  add("no qkv_bias", [](MultiHeadConfig& c) { c.qkv_bias = false; });
  add("qk_norm", [](MultiHeadConfig& c) {
    c.qk_norm = true;
    c.qk_norm_eps = 0.01;
  });
  add("qk_norm before rope", [](MultiHeadConfig& c) {
    c.qk_norm = true;
    c.position = {.name = "rope", .halves = true};
  });
  add("scale", [](MultiHeadConfig& c) {
    c.scale = 1.0;
    c.position = {.name = "t5", .buckets = 8, .max_distance = 20};
  });
  add("soft_cap", [](MultiHeadConfig& c) { c.soft_cap = 0.5; });
  add("all", [](MultiHeadConfig& c) {
    c.joint = false;
    c.bias = false;
    c.qkv_bias = true;
    c.qk_norm = true;
    c.scale = 0.4;
    c.soft_cap = 1.5;
    c.position = {.name = "t5", .buckets = 8, .max_distance = 20};
  });
  return all;
}

// A layer without the zeros and ones that parameters start with: they would hide mistakes.
MultiHeadAttention layer_of(const MultiHeadConfig& config) {
  Generator generator(5);
  MultiHeadAttention layer(config, generator);
  for (Tensor& parameter : layer.parameters()) {
    const Tensor noise = normal(parameter.shape(), 0.0, 0.3, generator);
    for (std::int64_t i = 0; i < parameter.numel(); ++i) {
      parameter.mutable_data<float>()[i] += noise.data<float>()[i];
    }
  }
  return layer;
}

TEST(MultiHeadOptions, AreWhatACompositionOfOpsComputes) {
  for (const auto& [name, config] : cases()) {
    MultiHeadAttention layer = layer_of(config), exact = layer_of(config);
    exact.to(DType::f64);
    const Tensor x = randn({2, 7, 12}, DType::f64), memory = randn({2, 5, 12}, DType::f64);
    const AttentionInput inputs[] = {
        {.x = x}, {.x = x, .causal = true}, {.x = x, .memory = memory}};
    for (const AttentionInput& in : inputs) {
      const Tensor expected = composed(exact, config, in);
      EXPECT_LE(max_relative_error(exact(in), expected), 1e-12) << name;
      AttentionInput single = in;
      single.x = cast_data(in.x, DType::f32);
      if (in.memory.defined()) single.memory = cast_data(in.memory, DType::f32);
      EXPECT_LE(max_relative_error(cast_data(layer(single), DType::f64), expected), 2e-6) << name;
    }
  }
}

TEST(MultiHeadOptions, HaveTheGradientsOfTheComposition) {
  for (const auto& [name, config] : cases()) {
    MultiHeadAttention layer = layer_of(config);
    layer.to(DType::f64);
    Tensor x = randn({2, 7, 12}, DType::f64);
    x.requires_grad();
    const AttentionInput in{.x = x, .causal = true};
    const auto gradients = [&](const Tensor& y) {
      sum(square(y)).backward();
      std::vector<Tensor> all = {clone_data(x.grad())};
      for (Tensor& parameter : layer.parameters()) {
        // The composition reads the table of t5 as numbers.
        if (layer.position && parameter.shape() == Shape{8, 4}) continue;
        all.push_back(clone_data(parameter.grad()));
        parameter.set_grad({});
      }
      x.set_grad({});
      return all;
    };
    const std::vector<Tensor> expected = gradients(composed(layer, config, in));
    const std::vector<Tensor> found = gradients(layer(in));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_LE(max_relative_error(found[i], expected[i]), 1e-9) << name << ", leaf " << i;
    }
  }
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

TEST(MultiHeadOptions, HoldWhileDecoding) {
  const Tensor x = randn({2, 9, 12}), memory = randn({2, 4, 12});
  for (const auto& [name, config] : cases()) {
    const MultiHeadAttention layer = layer_of(config);
    EXPECT_LE(max_relative_error(decoded(layer, x, {.batch = 2}), layer({.x = x, .causal = true})),
              1e-5)
        << name;
    EXPECT_LE(max_relative_error(decoded(layer, x, {.memory = memory}),
                                 layer({.x = x, .memory = memory})),
              1e-5)
        << name;
  }
}

TEST(MultiHeadOptions, GoWithExtraKeys) {
  const MultiHeadAttention layer = layer_of({.embed = 12,
                                             .heads = 3,
                                             .joint = false,
                                             .qk_norm = true,
                                             .soft_cap = 0.5,
                                             .bias_kv = true,
                                             .zero_attn = true});
  const Tensor x = randn({2, 9, 12});
  Tensor weights;
  const Tensor y = layer({.x = x, .causal = true, .weights = &weights});
  EXPECT_EQ(weights.shape(), (Shape{2, 3, 9, 11}));
  EXPECT_LE(max_relative_error(decoded(layer, x, {.batch = 2}), y), 1e-5);
}

TEST(MultiHeadOptions, GiveTheNamesAndShapesOfTheParameters) {
  const auto names = [](const MultiHeadConfig& config) {
    std::string all;
    for (const NamedTensor& named : MultiHeadAttention(config).named_parameters()) {
      all += named.name + " " + to_string(named.tensor.shape()) + "; ";
    }
    return all;
  };
  EXPECT_EQ(names({.embed = 12, .heads = 4, .joint = false, .bias = false, .qk_norm = true}),
            "q_proj_weight [12, 12]; k_proj_weight [12, 12]; v_proj_weight [12, 12]; "
            "q_norm.weight [3]; k_norm.weight [3]; out_proj.weight [12, 12]; ");
  EXPECT_EQ(names({.embed = 12, .heads = 4, .kv_heads = 2, .bias = false, .qkv_bias = true}),
            "in_proj_weight [24, 12]; in_proj_bias [24]; out_proj.weight [12, 12]; ");
  EXPECT_EQ(names({.embed = 12, .heads = 4, .qkv_bias = false}),
            "in_proj_weight [36, 12]; out_proj.weight [12, 12]; out_proj.bias [12]; ");
  EXPECT_EQ(names({.embed = 12, .heads = 4, .memory_embed = 5, .bias = true, .qkv_bias = false}),
            "q_proj_weight [12, 12]; k_proj_weight [12, 5]; v_proj_weight [12, 5]; "
            "out_proj.weight [12, 12]; out_proj.bias [12]; ");
}

// In double: how f32 products of 24 and of 6 columns round differs between CPUs.
TEST(MultiHeadOptions, ThreeMatricesGiveTheResultsOfTheirJoint) {
  MultiHeadAttention joint = layer_of({.embed = 12, .heads = 4, .kv_heads = 2});
  joint.to(DType::f64);
  MultiHeadAttention three({.embed = 12, .heads = 4, .kv_heads = 2, .joint = false});
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    return Linear(joint.in_proj->weight.rows(begin, end),
                  slice(joint.in_proj->bias, 0, begin, end));
  };
  three.q_proj = rows(0, 12);
  three.k_proj = rows(12, 18);
  three.v_proj = rows(18, 24);
  three.out_proj = joint.out_proj;
  const Tensor x = randn({2, 7, 12}, DType::f64), memory = randn({2, 5, 12}, DType::f64);
  EXPECT_LE(max_relative_error(three({.x = x}), joint({.x = x})), 1e-14);
  EXPECT_LE(
      max_relative_error(three({.x = x, .memory = memory}), joint({.x = x, .memory = memory})),
      1e-14);
}

TEST(MultiHeadOptions, ASoftCapComesAfterTheStagesOfAVariant) {
  class Shifted : public MultiHeadAttention {
   public:
    using MultiHeadAttention::MultiHeadAttention;

   protected:
    void specialise(AttentionSpec& spec, Corner) const override {
      spec.modifiers.push_back(distance_bias(from_values<float>({-90, 90, 90}, {3}), 1));
    }
  };
  const Shifted layer({.embed = 4, .heads = 1, .soft_cap = 1.0});
  Tensor weights;
  layer({.x = zeros({1, 2, 4}), .weights = &weights});
  // Scores of query 0 are 90 for key 0 and -90 for key 1, capped 1 and -1.
  EXPECT_NEAR(weights.data<float>()[0], 1.0 / (1.0 + std::exp(-2.0)), 1e-6);
}

TEST(MultiHeadOptions, HoldForTheVariants) {
  Generator generator(2);
  const RestrictedAttention layer(
      {.multi_head = {.embed = 12, .heads = 3, .joint = false, .qk_norm = true, .soft_cap = 2.0},
       .left = 4,
       .right = 0},
      generator);
  EXPECT_TRUE(layer.q_norm && layer.q_proj && !layer.in_proj);
  const Tensor x = randn({2, 80, 12});
  EXPECT_LE(max_relative_error(decoded(layer, x, {.batch = 2}), layer({.x = x, .causal = true})),
            1e-5);
}

TEST(MultiHeadOptions, WrongUseSaysWhatIsWrong) {
  const auto make = [](const MultiHeadConfig& config) {
    return error_message([&] { MultiHeadAttention layer(config); });
  };
  EXPECT_EQ(make({.qk_norm_eps = -1.0}),
            "[multi_head] qk_norm_eps -1: it must be at least 0 and finite");
  EXPECT_EQ(make({.scale = -1.0}),
            "[multi_head] scale -1: give a positive factor, or 0 for 1 / sqrt(head_size)");
  EXPECT_EQ(make({.soft_cap = -1.0}),
            "[multi_head] soft_cap -1: give a positive limit, or 0 for none");
}

}  // namespace
}  // namespace heed::multi_head_config_test
