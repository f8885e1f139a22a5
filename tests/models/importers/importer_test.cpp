// What importers share: activations by name, labels in order, and models that fit their files.
#include "heed/models/importers/importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "heed/models/language_model.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/nn/pack_weights.h"
#include "heed/nn/packed_file.h"
#include "heed/tensor/create.h"
#include "tests/models/importers/hf_case.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::importer_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ForeignConfig config_of(std::string_view json) {
  return {io::parse_json(json, "config.json"), "config.json"};
}

TEST(Importer, ActivationsByName) {
  const auto kind = [](const char* name, bool gated) {
    return import_activation(config_of(fmt::format(R"({{"act": "{}"}})", name)), "act", "relu",
                             gated);
  };
  EXPECT_EQ(kind("relu", false), FeedForwardKind::relu);
  EXPECT_EQ(kind("gelu", false), FeedForwardKind::gelu);
  EXPECT_EQ(kind("gelu_new", false), FeedForwardKind::gelu_tanh);
  EXPECT_EQ(kind("swish", false), FeedForwardKind::silu);
  EXPECT_EQ(kind("silu", true), FeedForwardKind::swiglu);
  EXPECT_EQ(kind("gelu", true), FeedForwardKind::geglu);
  EXPECT_EQ(kind("gelu_pytorch_tanh", true), FeedForwardKind::geglu_tanh);
  EXPECT_EQ(import_activation(config_of("{}"), "act", "gelu"), FeedForwardKind::gelu);
  EXPECT_THAT(error_message([&] { kind("mish", false); }),
              AllOf(HasSubstr("config.json"), HasSubstr("\"mish\""), HasSubstr("gelu_new")));
  EXPECT_THAT(error_message([&] { kind("relu", true); }), HasSubstr("\"relu\""));
}

TEST(Importer, LabelsInTheOrderOfTheirNumbers) {
  EXPECT_THAT(import_labels(config_of(R"({"id2label": {"1": "bad", "0": "good", "2": "ugly"}})")),
              ElementsAre("good", "bad", "ugly"));
  EXPECT_THAT(import_labels(config_of("{}")), IsEmpty());
  for (const char* const wrong :
       {R"({"id2label": {"0": "a", "2": "b"}})", R"({"id2label": {"0": "a", "x": "b"}})",
        R"({"id2label": {"0": "a", "00": "b"}})", R"({"id2label": {"0": 7}})"}) {
    EXPECT_THAT(error_message([&] { import_labels(config_of(wrong)); }), HasSubstr("\"id2label\""))
        << wrong;
  }
}

LanguageModelConfig small() {
  LanguageModelConfig config{.vocabulary = test::kVocabulary, .layers = 2};
  config.block.embed = test::kEmbed;
  config.block.heads = test::kHeads;
  config.block.positions = "rope";
  config.block.dropout = 0.5;
  return config;
}
constexpr TensorRule kSame[] = {{"tokens.tokens.{}", "tokens.tokens.{}"},
                                {"decoder.layers.{}.{}.{}.{}", "decoder.layers.{}.{}.{}.{}"},
                                {"decoder.layers.{}.{}.{}", "decoder.layers.{}.{}.{}"},
                                {"decoder.norm.{}", "decoder.norm.{}"},
                                {"output.{}", "output.{}"}};

TEST(Importer, TheModelHasTheWeightsOfTheFile) {
  Generator generator(5);
  LanguageModel from(small(), generator);
  const TempDir dir;
  save_parameters(from, dir / "model.safetensors");
  const io::TensorSource file = io::TensorSource::open(dir / "model.safetensors");
  const Import import{.model = import_choice<LanguageModel>(kLanguageModel, small()),
                      .names = {.rules = kSame}};
  const std::unique_ptr<Model> model = import_model(import, file);
  EXPECT_FALSE(model->training()) << "ready for use";
  from.eval();
  const auto* const to = dynamic_cast<const LanguageModel*>(model.get());
  ASSERT_NE(to, nullptr);
  const Tensor ids = test::random_ids(2, 6, 1);
  EXPECT_TRUE(test::same_bits((*to)(ids), from(ids)));
}

// Sizes are compared before memory is taken for them.
TEST(Importer, AConfigThatIsFarLargerThanItsFileIsRefused) {
  const TempDir dir;
  save_tensors(std::vector<NamedTensor>{{"tokens.tokens.weight", zeros({11, 16})}},
               dir / "model.safetensors");
  LanguageModelConfig config = small();
  config.vocabulary = 100'000'000;
  const Import import{.model = import_choice<LanguageModel>(kLanguageModel, config),
                      .names = {.rules = kSame}};
  EXPECT_THAT(error_message(
                  [&] { import_model(import, io::TensorSource::open(dir / "model.safetensors")); }),
              AllOf(HasSubstr("far larger than its weights"), HasSubstr("model.safetensors")));
}

TEST(Importer, ErrorsOfSizesNameTheFile) {
  LanguageModelConfig config = small();
  config.block.heads = 3;
  const Import import{.model = import_choice<LanguageModel>(kLanguageModel, config),
                      .names = {.rules = kSame}};
  const TempDir dir;
  save_tensors(std::vector<NamedTensor>{{"a", zeros({2})}}, dir / "model.safetensors");
  EXPECT_THAT(error_message(
                  [&] { import_model(import, io::TensorSource::open(dir / "model.safetensors")); }),
              AllOf(HasSubstr("[import]"), HasSubstr("model.safetensors"), HasSubstr("heads 3")));
}

// While they are read, or afterwards. The matrices of GPT-2 are transposed.
TEST(ImportModel, PacksWeights) {
  const NoGrad no_grad;
  for (const std::string name : {"llama", "gpt2"}) {
    SCOPED_TRACE(name);
    const test::HfCase golden{name};
    const io::TensorSource tensors = io::TensorSource::open(golden.path());
    const auto logits = [&](const Model& model) {
      const auto& causal = dynamic_cast<const CausalModel&>(model);
      return causal.output_layer()(causal(golden["in.ids"]));
    };
    for (const PackedForm form :
         {PackedForm::f32, PackedForm::bf16, PackedForm::int8, PackedForm::int4}) {
      const auto expected = import_model(golden.import(), tensors);
      pack_weights(*expected, form);
      const auto model = import_model(golden.import(), tensors, form);
      EXPECT_EQ(packed_form(*model), form);
      EXPECT_TRUE(test::same_bits(logits(*model), logits(*expected)));
    }
  }
}

}  // namespace
}  // namespace heed::importer_test
