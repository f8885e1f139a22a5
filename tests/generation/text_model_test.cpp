// Language models and classifiers with their tokenizers, saved to folders and loaded.
#include "heed/generation/text_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/decoding_steps.h"
#include "heed/generation/model_folder.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using test::tiny_classifier;
using test::tiny_generator;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(TextModel, GeneratorsGoToAFolderAndBack) {
  const TempDir dir;
  const TextGenerator before = tiny_generator();
  save_model(before, dir.path());
  const TextGenerator after = load_text_generator(dir.path());
  EXPECT_FALSE(after.model->training());
  const NoGrad no_grad;
  const Tensor ids = ids_of(after.tokenizer->encode("a bad cab"), 1);
  EXPECT_EQ(after.tokenizer->encode("a bad cab"), before.tokenizer->encode("a bad cab"));
  EXPECT_TRUE(test::same_bits(after.model->output_layer()((*after.model)(ids)),
                              before.model->output_layer()((*before.model)(ids))));
}

TEST(TextModel, ClassifiersKeepTheirLabels) {
  const TempDir dir;
  const TextClassifier before = tiny_classifier();
  save_model(before, dir.path());
  const TextClassifier after = load_text_classifier(dir.path());
  EXPECT_THAT(after.labels, ElementsAre("good", "bad", "ugly"));
  EXPECT_FALSE(after.model->training());
  const NoGrad no_grad;
  const Tensor ids = ids_of(after.tokenizer->encode("a bad cab"), 1);
  EXPECT_TRUE(test::same_bits((*after.model)({ids}), (*before.model)({ids})));
}

TEST(TextModel, FoldersOfOtherKindsAreRefused) {
  const TempDir dir;
  save_model(tiny_classifier(), dir.path());
  EXPECT_THAT(error_message([&] { load_text_generator(dir.path()); }),
              HasSubstr("a model for task \"classify\" (classifier), not for \"language\""));
  EXPECT_THAT(error_message([&] { load_translator(dir.path()); }),
              HasSubstr("a model for task \"classify\" (classifier), not for \"translate\""));
}

}  // namespace
}  // namespace heed
