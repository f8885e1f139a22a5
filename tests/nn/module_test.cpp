// Names, ties, modes and conversions of modules, on a small tree of them.
#include "heed/nn/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/nn/linear.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::module_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Block : Module {
  Linear inner{{.in = 3, .out = 3, .bias = false}};
  Tensor scale = ones({3}).requires_grad();

  void visit(ParameterVisitor& v) override {
    v("inner", inner);
    v("scale", scale);
  }
};

struct Net : Module {
  Linear first{{.in = 2, .out = 3}};
  std::vector<Block> layers = std::vector<Block>(2);
  std::optional<Linear> extra;
  std::unique_ptr<Linear> head;

  void visit(ParameterVisitor& v) override {
    v("first", first);
    v("layers", layers);
    v("extra", extra);
    v("head", head);
  }
};

std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& named : tensors) names.push_back(named.name);
  return names;
}

TEST(Module, NamesJoinWithDots) {
  Net net;
  EXPECT_THAT(names_of(net.named_parameters()),
              ElementsAre("first.weight", "first.bias", "layers.0.inner.weight", "layers.0.scale",
                          "layers.1.inner.weight", "layers.1.scale"));
  EXPECT_EQ(net.parameters().size(), 6u);
  EXPECT_EQ(net.parameter_count(), 6 + 3 + 2 * (9 + 3));
}

// A part with joined names, inside another part.
struct Outer : Module {
  struct Inner : Module {
    Linear in{{.in = 2, .out = 3}};
    Net net;
    Tensor scale = ones({3}).requires_grad();

    void visit(ParameterVisitor& v) override {
      v.joined("in_proj", in);
      v.joined("net", net);
      v("scale", scale);
    }
  };
  Inner inner;

  void visit(ParameterVisitor& v) override { v("inner", inner); }
};

TEST(Module, JoinedNamesHaveAnUnderscore) {
  Outer outer;
  EXPECT_THAT(names_of(outer.named_parameters()),
              ElementsAre("inner.in_proj_weight", "inner.in_proj_bias", "inner.net_first.weight",
                          "inner.net_first.bias", "inner.net_layers.0.inner.weight",
                          "inner.net_layers.0.scale", "inner.net_layers.1.inner.weight",
                          "inner.net_layers.1.scale", "inner.scale"));
  outer.eval();
  EXPECT_FALSE(outer.inner.in.training()) << "the mode reaches joined parts too";
  EXPECT_FALSE(outer.inner.net.layers[1].inner.training());
}

TEST(Module, AbsentPartsAppearWhenMade) {
  Net net;
  net.extra.emplace(LinearConfig{.in = 3, .out = 1, .bias = false});
  net.head = std::make_unique<Linear>(LinearConfig{.in = 3, .out = 1, .bias = false});
  const auto names = names_of(net.named_parameters());
  EXPECT_EQ(names[names.size() - 2], "extra.weight");
  EXPECT_EQ(names.back(), "head.weight");
}

struct Rows : Module {
  std::vector<std::unique_ptr<Module>> parts;  // of several kinds
  std::vector<Tensor> tables;

  void visit(ParameterVisitor& v) override {
    v("parts", parts);
    v("tables", tables);
  }
};

TEST(Module, RowsOfPointersAndTensors) {
  Rows rows;
  rows.parts.push_back(std::make_unique<Block>());
  rows.parts.push_back(std::make_unique<Linear>(LinearConfig{.in = 1, .out = 1}));
  rows.tables = {zeros({2}), zeros({2}, DType::i64)};
  EXPECT_THAT(names_of(rows.named_parameters()),
              ElementsAre("parts.0.inner.weight", "parts.0.scale", "parts.1.weight", "parts.1.bias",
                          "tables.0", "tables.1"));
  rows.requires_grad(true);
  EXPECT_TRUE(rows.tables[0].tracks_grad());
  EXPECT_FALSE(rows.tables[1].tracks_grad()) << "integers do not learn";
  rows.to(DType::f64);
  EXPECT_EQ(rows.tables[0].dtype(), DType::f64);
  EXPECT_EQ(rows.tables[1].dtype(), DType::i64);
}

TEST(Module, ModeReachesEveryPart) {
  Net net;
  EXPECT_TRUE(net.training());
  net.eval();
  EXPECT_FALSE(net.training());
  EXPECT_FALSE(net.layers[1].inner.training());
  net.train();
  EXPECT_TRUE(net.layers[1].inner.training());
}

TEST(Module, SurvivesMoves) {
  Net net;
  const Tensor weight = net.layers[0].inner.weight.data;
  std::vector<Net> nets;
  nets.push_back(std::move(net));
  nets.emplace_back();  // moves the first one again
  EXPECT_EQ(nets[0].named_parameters()[2].tensor.storage(), weight.storage());
  nets[0].eval();
  EXPECT_FALSE(nets[0].layers[0].training());
}

TEST(Module, CopiesShareUntilCloned) {
  Block block;
  Block copy = block;
  EXPECT_EQ(copy.scale.storage(), block.scale.storage());
  copy.clone_parameters();
  EXPECT_NE(copy.scale.storage(), block.scale.storage());
  copy.scale.mutable_data<float>()[0] = 7.0f;
  EXPECT_EQ(block.scale.data<float>()[0], 1.0f);
  EXPECT_TRUE(copy.scale.tracks_grad());
  EXPECT_TRUE(test::same_bits(copy.inner.weight.data, block.inner.weight.data));
}

TEST(Module, TiedParametersCountOnceAndStayTied) {
  Net net;
  net.layers[1].inner.weight.data = net.layers[0].inner.weight.data;
  EXPECT_EQ(net.named_parameters().size(), 5u);
  EXPECT_EQ(net.every_name().size(), 6u);
  const auto tied = [&] {
    return net.layers[0].inner.weight.data.storage() == net.layers[1].inner.weight.data.storage() &&
           net.layers[0].inner.weight.data.node() == net.layers[1].inner.weight.data.node();
  };
  net.clone_parameters();
  EXPECT_TRUE(tied());
  net.to(DType::f64);
  EXPECT_TRUE(tied());
  net.requires_grad(false);
  net.requires_grad(true);
  EXPECT_TRUE(tied());
  EXPECT_TRUE(net.layers[0].inner.weight.data.tracks_grad());
}

TEST(Module, SharedValuesWithoutSharedGradientAreRefused) {
  Net net;
  Tensor half_tied = net.layers[0].inner.weight.data.detach();
  net.layers[1].inner.weight.data = half_tied.requires_grad();
  EXPECT_THAT(error_message([&] { net.parameters(); }),
              HasSubstr("'layers.0.inner.weight' and 'layers.1.inner.weight' share their values"));
}

TEST(Module, ConvertsParameters) {
  Block block;
  const Tensor before = block.inner.weight.data;
  block.to(DType::f64);
  EXPECT_EQ(block.inner.weight.data.dtype(), DType::f64);
  EXPECT_TRUE(block.inner.weight.data.tracks_grad());
  EXPECT_EQ(test::max_relative_error(block.inner.weight.data, before), 0.0);
  block.to(DType::bf16);
  EXPECT_EQ(block.scale.dtype(), DType::bf16);
  EXPECT_FALSE(block.scale.tracks_grad());
  EXPECT_THAT(error_message([&] { block.to(DType::i64); }), HasSubstr("cannot be i64"));
}

TEST(Module, ZeroGradForgets) {
  Block block;
  sum(block.inner(ones({2, 3}))).backward();
  ASSERT_TRUE(block.inner.weight.data.grad().defined());
  block.zero_grad();
  EXPECT_FALSE(block.inner.weight.data.grad().defined());
}

TEST(Module, FrozenParametersRecordNothing) {
  Block block;
  block.requires_grad(false);
  EXPECT_FALSE(block.inner(ones({2, 3})).tracks_grad());
  EXPECT_EQ(block.parameters().size(), 2u);
}

TEST(Module, CountsPackedWeightsOnce) {
  Net net;
  const std::int64_t count = net.parameter_count();
  net.layers[0].inner.weight.pack(PackedForm::int8);
  EXPECT_EQ(net.parameter_count(), count);
  EXPECT_THAT(names_of(net.named_parameters()),
              ElementsAre("first.weight", "first.bias", "layers.0.scale", "layers.1.inner.weight",
                          "layers.1.scale"));
  net.layers[1].inner.weight = net.layers[0].inner.weight;  // tied
  EXPECT_EQ(net.parameter_count(), count - 9);
}

TEST(Module, AVisitorOfWeightsSeesPackedAndPlainOnes) {
  Net net;
  net.first.weight.pack(PackedForm::bf16);
  std::vector<std::string> names;
  ParameterVisitor([&](const std::string& name, Weight& weight) {
    names.push_back(name + (weight.packed ? " packed" : ""));
  }).root(net);
  EXPECT_THAT(names,
              ElementsAre("first.weight packed", "layers.0.inner.weight", "layers.1.inner.weight"));
}

}  // namespace
}  // namespace heed::module_test
