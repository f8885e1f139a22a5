// A classifier with other labels on the layers of a trained encoder.
#include "heed/generation/new_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/model_folder.h"
#include "tests/generation/hf_encoder_folder.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::new_head_test {
namespace {

using testing::HasSubstr;

Tensor parameter(const Module& model, const std::string& name) {
  for (const NamedTensor& named : model.every_name()) {
    if (named.name == name) return named.tensor;
  }
  throw Error("there is no " + name);
}

class NewHead : public testing::Test {
 protected:
  static TextClassifier load(const std::filesystem::path& folder,
                             const std::vector<std::string>& labels) {
    Generator generator(1);
    return load_with_labels(folder, labels, generator);
  }
  TempDir dir_;
};

TEST_F(NewHead, TheLayersAreTheEncoders) {
  for (const char* const golden : {"bert", "bert_masked_lm", "bert_classifier"}) {
    SCOPED_TRACE(golden);
    const test::HfEncoderFolder hub(golden);
    const TextClassifier classifier = load(hub.path(), {"no", "yes"});
    EXPECT_EQ(classifier.labels, (std::vector<std::string>{"no", "yes"}));
    EXPECT_EQ(classifier.model->classes(), 2);
    const LoadedModel before = load_model(hub.path());
    const Model& encoder = std::visit(
        [](const auto& model) -> const Model& {
          if constexpr (requires { *model.model; }) {
            return *model.model;
          } else {
            return model.model();
          }
        },
        before);
    for (const char* const name : {"tokens.tokens.weight", "encoder.layers.1.linear2.bias"}) {
      EXPECT_TRUE(test::same_bits(parameter(*classifier.model, name), parameter(encoder, name)))
          << name;
      EXPECT_TRUE(parameter(*classifier.model, name).tracks_grad()) << name;
    }
  }
}

TEST_F(NewHead, ItsFolderIsThatOfAClassifier) {
  test::HfEncoderFolder hub("bert");
  hub.write(  // a folder of sentence-transformers
      "modules.json",
      R"([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
          {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  hub.write("1_Pooling/config.json",
            R"({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": true})");
  const TextClassifier classifier = load(hub.path(), {"no", "yes"});
  std::filesystem::create_directory(dir_ / "own");
  save_model(classifier, dir_ / "own");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "own" / "origin" / "modules.json"));
  const TextClassifier again = load_text_classifier(dir_ / "own");
  EXPECT_EQ(again.labels, classifier.labels);
  EXPECT_TRUE(test::same_bits(parameter(*again.model, "scores.weight"),
                              parameter(*classifier.model, "scores.weight")));
}

TEST_F(NewHead, AClassifierOfTheseLabelsIsUsedAsItIs) {
  const test::HfEncoderFolder hub("bert_classifier");
  EXPECT_EQ(load(hub.path(), {"neutral", "negative"}).labels,
            (std::vector<std::string>{"negative", "neutral", "positive"}));
}

TEST_F(NewHead, SaysWhatDoesNotFit) {
  std::filesystem::create_directory(dir_ / "text");
  save_model(test::tiny_generator(), dir_ / "text");
  EXPECT_THAT(error_message([&] { load(dir_ / "text", {"a"}); }), HasSubstr("task \"language\""));
  std::filesystem::create_directory(dir_ / "labels");
  save_model(test::tiny_classifier(), dir_ / "labels");
  EXPECT_THAT(error_message([&] { load(dir_ / "labels", {"another"}); }),
              HasSubstr("was not trained for the labels another"));
}

}  // namespace
}  // namespace heed::new_head_test
