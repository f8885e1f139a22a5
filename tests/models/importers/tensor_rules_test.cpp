// Tensors of other programs as parameters and back: names, forms, tied parameters, use in place,
// and one message for all that does not fit.
#include "heed/models/importers/tensor_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/nn/checkpoint_file.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::tensor_rules_test {
namespace {

using test::same_bits;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(TensorRules, PatternsNameParts) {
  constexpr TensorRule rules[] = {{"layers.{}.norm.{}", "h.{}.ln.{}", TensorForm::less_one},
                                  {"layers.{}.q_{}", "h.{}.q.{}"},
                                  {"tokens", "wte.weight"}};
  const TensorNames names{.rules = rules};
  const auto found = foreign_name(names, "layers.12.norm.bias");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "h.12.ln.bias");
  EXPECT_EQ(found->form, TensorForm::less_one);
  EXPECT_EQ(foreign_name(names, "layers.0.q_weight")->name, "h.0.q.weight");
  EXPECT_EQ(foreign_name(names, "tokens")->name, "wte.weight");
  EXPECT_FALSE(foreign_name(names, "layers.0.1.q_weight")) << "a part has no dots";
  EXPECT_FALSE(foreign_name(names, "layers..q_weight")) << "a part is not empty";
  EXPECT_FALSE(foreign_name(names, "layers.0.q_weight.x"));
  EXPECT_FALSE(foreign_name(names, "token"));
}

// A model with one parameter of every form, and one that is tied.
struct Forms : Module {
  Tensor plain = randn({2, 3});
  Tensor matrix = randn({4, 3});
  Tensor vector = randn({4});
  Tensor norm = randn({3});
  Tensor scaled = randn({3});
  Tensor bias = randn({3});
  Tensor tied = plain;

  void visit(ParameterVisitor& visitor) override {
    visitor("plain", plain);
    visitor("conv.weight", matrix);
    visitor("conv.bias", vector);
    visitor("norm", norm);
    visitor("scaled", scaled);
    visitor("bias", bias);
    visitor("tied", tied);
  }
};
constexpr TensorRule kForms[] = {
    {"plain", "m.embed"},
    {"conv.{}", "m.c_fc.{}", TensorForm::transposed},
    {"norm", "m.norm", TensorForm::less_one},
    {"scaled", "m.scaled", TensorForm::times_root},
    {"bias", "m.logits_bias", TensorForm::row},
    {"tied", "head"},
};
constexpr std::string_view kUnused[] = {"*.mask"};
constexpr TensorNames kFormNames = {.rules = kForms, .prefix = "m.", .unused = kUnused};

io::TensorSource saved(const std::vector<NamedTensor>& tensors, const TempDir& dir) {
  save_tensors(tensors, dir / "model.safetensors");
  return io::TensorSource::open(dir / "model.safetensors");
}

TEST(TensorRules, ExportedParametersAreImportedAgain) {
  const Forms from;
  const std::vector<NamedTensor> theirs = export_parameters(from, kFormNames);
  ASSERT_EQ(theirs.size(), 6u) << "a tied parameter is there once";
  EXPECT_EQ(theirs[1].name, "m.c_fc.weight");
  EXPECT_EQ(theirs[1].tensor.shape(), (Shape{3, 4}));
  EXPECT_EQ(theirs[2].tensor.shape(), (Shape{4})) << "vectors are not transposed";
  EXPECT_EQ(theirs[5].tensor.shape(), (Shape{1, 3}));
  const auto first = [](const Tensor& x) { return x.to_vector<float>()[0]; };
  EXPECT_FLOAT_EQ(first(theirs[3].tensor), first(from.norm) - 1.0f);
  EXPECT_FLOAT_EQ(first(theirs[4].tensor), first(from.scaled) * std::sqrt(3.0f));
  EXPECT_EQ(theirs[1].tensor.to_vector<float>()[1], from.matrix.to_vector<float>()[3]);
  const TempDir dir;
  Forms to;
  import_parameters(to, kFormNames, saved(theirs, dir));
  EXPECT_TRUE(same_bits(to.plain, from.plain));
  EXPECT_TRUE(same_bits(to.matrix, from.matrix));
  EXPECT_TRUE(same_bits(to.vector, from.vector));
  EXPECT_TRUE(same_bits(to.bias, from.bias));
  EXPECT_LE(test::max_relative_error(to.norm, from.norm), 1e-6);
  EXPECT_LE(test::max_relative_error(to.scaled, from.scaled), 1e-6);
  EXPECT_EQ(to.tied.storage()->data(), to.plain.storage()->data()) << "tied parameters stay tied";
}

TEST(TensorRules, ParametersAreUsedInPlace) {
  const TempDir dir;
  const io::TensorSource file = saved(export_parameters(Forms(), kFormNames), dir);
  Forms to;
  import_parameters(to, kFormNames, file);
  const auto* const bytes = file.find("m.embed").bytes.data();
  EXPECT_EQ(to.plain.storage()->data(), bytes);
  EXPECT_FALSE(to.plain.tracks_grad());
}

TEST(TensorRules, TheOutputOfTiedWeightsMayBeStoredToo) {
  const TempDir dir;
  const Forms from;
  std::vector<NamedTensor> theirs = export_parameters(from, kFormNames);
  theirs.push_back({"head", from.plain});
  Forms to;
  import_parameters(to, kFormNames, saved(theirs, dir));
  EXPECT_TRUE(same_bits(to.tied, from.plain));
  theirs.erase(theirs.begin());  // only under its second name
  import_parameters(to, kFormNames, saved(theirs, dir));
  EXPECT_TRUE(same_bits(to.plain, from.plain));
}

TEST(TensorRules, NormsMayHaveTheNamesOfTensorFlow) {
  constexpr TensorRule rules[] = {{"weight", "m.LayerNorm.weight"}, {"bias", "m.LayerNorm.bias"}};
  const TempDir dir;
  const Tensor weight = randn({3}), bias = randn({3});
  LayerNorm to({.size = 3});
  import_parameters(to, {.rules = rules, .prefix = "m."},
                    saved({{"LayerNorm.gamma", weight}, {"LayerNorm.beta", bias}}, dir));
  EXPECT_TRUE(same_bits(to.weight, weight));
  EXPECT_TRUE(same_bits(to.bias, bias));
}

TEST(TensorRules, BareModelsLackThePrefix) {
  const TempDir dir;
  const Forms from;
  std::vector<NamedTensor> theirs = export_parameters(from, kFormNames);
  for (NamedTensor& tensor : theirs) tensor.name.erase(0, 2);
  theirs.push_back({"h.0.mask", randn({2, 2})});
  Forms to;
  import_parameters(to, kFormNames, saved(theirs, dir));
  EXPECT_TRUE(same_bits(to.matrix, from.matrix));
  theirs.back().name = "m.h.0.mask";
  import_parameters(to, kFormNames, saved(theirs, dir));
}

TEST(TensorRules, OneMessageSaysAllThatDoesNotFit) {
  const TempDir dir;
  std::vector<NamedTensor> theirs = export_parameters(Forms(), kFormNames);
  theirs[0].tensor = randn({2, 4});
  theirs[1].tensor = zeros({3, 4}, DType::i64);
  theirs[2].name = "m.c_fc.bia";
  theirs.push_back({"m.other", randn({5})});
  Forms to;
  const Tensor before = to.plain;
  const std::string message =
      error_message([&] { import_parameters(to, kFormNames, saved(theirs, dir)); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("model.safetensors"),
                    HasSubstr("tensor 'm.embed' is [2, 4], expected [2, 3]"),
                    HasSubstr("tensor 'm.c_fc.weight' is I64"),
                    HasSubstr("tensor 'm.c_fc.bias' [4] is missing (there is 'm.c_fc.bia')"),
                    HasSubstr("tensor 'm.other' [5] is not part of this model")));
  EXPECT_EQ(to.plain.storage()->data(), before.storage()->data()) << "nothing has changed";
}

TEST(TensorRules, AParameterWithoutARuleIsAnError) {
  const TempDir dir;
  const TensorNames none{.rules = std::span(kForms).first(1), .prefix = "m."};
  Forms to;
  EXPECT_THAT(error_message([&] {
                import_parameters(to, none, saved({{"m.embed", randn({2, 3})}}, dir));
              }),
              HasSubstr("no rule says where parameter 'conv.weight' is"));
  EXPECT_THAT(error_message([&] { export_parameters(to, none); }), HasSubstr("'conv.weight'"));
}

}  // namespace
}  // namespace heed::tensor_rules_test
