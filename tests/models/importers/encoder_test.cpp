// Which kind of model a folder of an encoder is, by its architectures, its tensors and the files
// beside it.
#include "heed/models/importers/encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/importers/encoder_case.h"
#include "tests/support/error_message.h"

namespace heed::encoder_test {
namespace {

using test::changed_import;
using testing::AllOf;
using testing::HasSubstr;

std::string_view kind_of(const std::string& name, const std::string& from, const std::string& to) {
  return changed_import(name, from, to).model.kind().name;
}

TEST(ImportEncoder, TheArchitectureSaysWhichKind) {
  EXPECT_EQ(test::HfCase("bert").import().model.kind().name, "sentence_encoder");
  EXPECT_EQ(test::HfCase("bert_masked_lm").import().model.kind().name, "masked_model");
  EXPECT_EQ(test::HfCase("bert_classifier").import().model.kind().name, "classifier");
  EXPECT_EQ(kind_of("bert_masked_lm", "BertForMaskedLM", "BertForPreTraining"), "masked_model");
  EXPECT_EQ(kind_of("bert_masked_lm", "BertForMaskedLM", "BertModel"), "sentence_encoder");
}

TEST(ImportEncoder, TheTensorsSayWhetherThereIsAHead) {
  EXPECT_EQ(kind_of("bert", "BertModel", "BertForMaskedLM"), "sentence_encoder");
  EXPECT_EQ(kind_of("bert_masked_lm", "\"architectures\"", "\"unnamed\""), "masked_model");
  EXPECT_EQ(kind_of("bert", "\"architectures\"", "\"unnamed\""), "sentence_encoder");
}

TEST(ImportEncoder, ASentenceEncoderLeavesTheHeadOut) {
  const test::HfCase golden("bert_masked_lm");
  const Import import = changed_import("bert_masked_lm", "BertForMaskedLM", "BertModel");
  const auto model = import_model(import, golden.tensors());
  const NoGrad no_grad;
  test::expect_near(dynamic_cast<const EncodingModel&>(*model).states(test::batch_of(golden)),
                    golden, "out.hidden");
}

TEST(ImportEncoder, WithoutFilesBesideItVectorsAreMeans) {
  Import import = test::HfCase("bert").import();
  const SentenceEncoderConfig* const config = import.model.config_of<SentenceEncoder>();
  ASSERT_NE(config, nullptr);
  EXPECT_EQ(config->pooling, Pooling::mean);
  EXPECT_FALSE(config->normalize);
  EXPECT_EQ(config->max_tokens, 0);
}

TEST(ImportEncoder, LabelsMayHaveNoNames) {
  const Import import = changed_import("bert_classifier", "\"id2label\"", "\"unnamed\"");
  EXPECT_EQ(import.labels, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
  EXPECT_THAT(
      error_message([&] { import_model(import, test::HfCase("bert_classifier").tensors()); }),
      HasSubstr("tensor 'classifier.weight' is [3, 16], expected [2, 16]"));
}

TEST(ImportEncoder, OtherHeadsAreRefused) {
  EXPECT_THAT(
      error_message([] { changed_import("bert", "BertModel", "BertForQuestionAnswering"); }),
      AllOf(HasSubstr("config.json"), HasSubstr("\"BertForQuestionAnswering\""),
            HasSubstr("ForSequenceClassification")));
}

}  // namespace
}  // namespace heed::encoder_test
