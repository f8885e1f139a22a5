// Adapters: a model is unchanged until they are trained, only they learn, and merging keeps the
// results.
#include "heed/models/lora.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "heed/models/language_model.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::lora_test {
namespace {

using testing::HasSubstr;

LanguageModel small_model() {
  Generator generator(3);
  LanguageModelConfig config{.vocabulary = test::kVocabulary, .layers = 2};
  config.block.embed = test::kEmbed;
  config.block.heads = test::kHeads;
  config.block.hidden = test::kHidden;
  return LanguageModel(config, generator);
}

std::vector<std::string> trained(const Module& model) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : model.named_parameters()) {
    if (parameter.tensor.tracks_grad()) names.push_back(parameter.name);
  }
  return names;
}

TEST(Lora, ChangesNothingAtFirst) {
  LanguageModel model = small_model();
  const Tensor ids = test::random_ids(2, 7, 1), before = model(ids);
  Generator generator(1);
  add_lora(model, {.rank = 2}, generator);
  EXPECT_LE(test::max_relative_error(model(ids), before), 1e-6);
}

TEST(Lora, OnlyAdaptersAreTrained) {
  LanguageModel model = small_model();
  Generator generator(1);
  add_lora(model, {.rank = 2, .targets = {"*.self_attn.in_proj", "*.linear1"}}, generator);
  EXPECT_THAT(trained(model), testing::ElementsAre("decoder.layers.0.self_attn.in_proj_lora_down",
                                                   "decoder.layers.0.self_attn.in_proj_lora_up",
                                                   "decoder.layers.0.linear1.lora_down",
                                                   "decoder.layers.0.linear1.lora_up",
                                                   "decoder.layers.1.self_attn.in_proj_lora_down",
                                                   "decoder.layers.1.self_attn.in_proj_lora_up",
                                                   "decoder.layers.1.linear1.lora_down",
                                                   "decoder.layers.1.linear1.lora_up"));
  const Tensor ids = test::random_ids(2, 7, 1);
  model.output.loss(model(ids), test::random_ids(2, 7, 2)).loss.backward();
  for (const NamedTensor& parameter : model.named_parameters()) {
    if (parameter.name.ends_with("lora_up")) {
      EXPECT_GT(max(abs(parameter.tensor.grad())).item(), 0.0) << parameter.name;
    }
  }
}

TEST(Lora, TrainsNamedParametersToo) {
  LanguageModel model = small_model();
  model.requires_grad(false);
  const auto norm = [&] {
    for (const NamedTensor& one : model.named_parameters()) {
      if (one.name == "decoder.norm.weight") return one.tensor;
    }
    return Tensor();
  };
  const Tensor before = norm();
  Generator generator(1);
  add_lora(model,
           {.rank = 2, .targets = {"*.0.linear1"}, .trained = {"decoder.norm.*", "scores.*"}},
           generator);
  EXPECT_THAT(trained(model),
              testing::ElementsAre("decoder.layers.0.linear1.lora_down",
                                   "decoder.layers.0.linear1.lora_up", "decoder.norm.weight"));
  EXPECT_TRUE(test::same_bits(norm(), before));
  EXPECT_NE(norm().storage(), before.storage()) << "it is a copy";
  LanguageModel tied = small_model();
  EXPECT_THAT(
      error_message([&] { add_lora(tied, {.rank = 2, .trained = {"tokens.*"}}, generator); }),
      HasSubstr("is tied"));
}

TEST(Lora, MergesIntoTheMatrices) {
  LanguageModel model = small_model();
  Generator generator(1);
  model.adapt({.rank = 3, .alpha = 6.0}, generator);
  EXPECT_EQ(model.lora().rank, 3);
  for (NamedTensor& parameter : model.named_parameters()) {
    if (!parameter.name.ends_with("lora_up")) continue;
    copy_into(parameter.tensor, normal(parameter.tensor.shape(), 0.0, 0.3, generator));
  }
  const Tensor ids = test::random_ids(2, 7, 1), adapted = model(ids);
  EXPECT_GT(test::max_relative_error(adapted, small_model()(ids)), 1e-2) << "adapters count";
  model.merge_adapters();
  EXPECT_EQ(model.lora().rank, 0);
  EXPECT_LE(test::max_relative_error(model(ids), adapted), 1e-5);
  EXPECT_EQ(model.named_parameters().size(), small_model().named_parameters().size());
}

TEST(Lora, SaysWhatIsWrong) {
  LanguageModel model = small_model();
  Generator generator(1);
  EXPECT_THAT(
      error_message([&] { add_lora(model, {.rank = 2, .targets = {"*.nothing"}}, generator); }),
      HasSubstr("no linear layer matches the targets *.nothing"));
  EXPECT_THAT(error_message([&] { add_lora(model, {}, generator); }), HasSubstr("rank 0"));
  model.adapt({.rank = 2}, generator);
  EXPECT_THAT(error_message([&] { model.adapt({.rank = 2}, generator); }),
              HasSubstr("merge them first"));
}

TEST(Freeze, KeepsParametersFromTraining) {
  LanguageModel model = small_model();
  freeze_parameters(model, {"tokens.*", "*.norm1.*"});
  for (const std::string& name : trained(model)) {
    EXPECT_FALSE(name.starts_with("tokens.") || name.find(".norm1.") != name.npos) << name;
  }
  EXPECT_FALSE(model.output.weight.data.tracks_grad()) << "tied to the embeddings";
  EXPECT_THAT(error_message([&] { freeze_parameters(model, {"token.*"}); }),
              HasSubstr("no parameter matches \"token.*\""));
  EXPECT_THAT(error_message([&] { freeze_parameters(model, {"*"}); }),
              HasSubstr("leaves no parameter to train"));
}

}  // namespace
}  // namespace heed::lora_test
