// The model of masked tokens: its head, its output, tied or not, and gradients of everything.
#include "heed/models/masked_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::masked_model_test {
namespace {

using test::lengths_of;
using test::random_ids;
using testing::Contains;
using testing::Not;

MaskedModelConfig small() {
  MaskedModelConfig config{.encoder = {.vocabulary = test::kVocabulary}};
  config.encoder.block.embed = test::kEmbed;
  config.encoder.block.heads = test::kHeads;
  config.encoder.block.hidden = test::kHidden;
  config.encoder.block.dropout = 0.0;
  return config;
}

std::vector<std::string> names_of(const Module& module) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : module.named_parameters()) names.push_back(parameter.name);
  return names;
}

TEST(MaskedModel, StatesPassTheHead) {
  MaskedModelConfig config = small();
  config.head = Activation::tanh;
  MaskedModel model(config);
  model.eval();
  const TextBatch batch{random_ids(3, 9, 1), lengths_of({9, 5, 7})};
  const Tensor dense = model.dense.weight.product(model.text(batch), {.bias = model.dense.bias});
  EXPECT_LE(test::max_relative_error(model(batch), model.norm(activate(Activation::tanh, dense))),
            1e-5);
  EXPECT_EQ(to_string(model.output_layer()(model(batch)).shape()), "[3, 9, 11]");
}

TEST(MaskedModel, TheOutputIsTiedOrNot) {
  MaskedModelConfig config = small();
  EXPECT_THAT(names_of(MaskedModel(config)), Not(Contains("output.weight")));
  EXPECT_THAT(names_of(MaskedModel(config)), Contains("output.bias"));
  config.tied = false;
  EXPECT_THAT(names_of(MaskedModel(config)), Contains("output.weight"));
}

TEST(MaskedModel, EveryParameterLearns) {
  for (const bool tied : {true, false}) {
    MaskedModelConfig config = small();
    config.tied = tied;
    const MaskedModel model(config);
    const Tensor ids = random_ids(3, 9, 1);
    const TextBatch batch{ids, lengths_of({9, 5, 7})};
    test::expect_learns(model, model.output_layer().loss(model(batch), ids).loss);
  }
}

TEST(MaskedModel, WrongConfigsSayWhatIsWrong) {
  MaskedModelConfig config = small();
  config.encoder.vocabulary = 0;
  EXPECT_EQ(error_message([&] { MaskedModel model(config); }),
            "[masked_model] a vocabulary of 0: give its size");
}

}  // namespace
}  // namespace heed::masked_model_test
