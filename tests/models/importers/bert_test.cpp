// BERT: results of transformers for a bare model and both heads, names and types of older files,
// and options that it does not compute.
#include "heed/models/importers/bert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/importers/encoder_case.h"
#include "tests/support/error_message.h"

namespace heed::bert_test {
namespace {

using test::changed_import;
using testing::AllOf;
using testing::HasSubstr;

TEST(ImportBert, GivesTheResultsOfTransformers) {
  test::expect_golden_states("bert");
  test::expect_golden_fillings("bert_masked_lm");
  test::expect_golden_classes("bert_classifier");
}

TEST(ImportBert, ReadsTheNamesOfPublishedFiles) { test::expect_golden_fillings("bert_old_names"); }

// The expected values are those of f32 arithmetic with the rounded weights.
TEST(ImportBert, ReadsHalfPrecision) { test::expect_golden_states("bert_f16"); }

TEST(ImportBert, TypesOfTokensCount) {
  const NoGrad no_grad;
  const test::HfCase golden("bert");
  TextBatch batch = test::batch_of(golden);
  batch.types = {};
  EXPECT_GT(test::error_of_range(golden.model<EncodingModel>()->states(batch), golden["out.hidden"],
                                 golden.lengths()),
            0.01);
}

TEST(ImportBert, RefusesWhatItDoesNotCompute) {
  const auto complaint = [](const char* from, const char* to) {
    return error_message([&] { changed_import("bert", from, to); });
  };
  EXPECT_THAT(complaint("\"hidden_act\": \"gelu\"", "\"hidden_act\": \"mish\""),
              AllOf(HasSubstr("config.json"), HasSubstr("\"mish\""), HasSubstr("gelu_new")));
  EXPECT_EQ(
      complaint("\"model_type\"", "\"position_embedding_type\": \"relative_key\", \"model_type\""),
      "[import] config.json: \"position_embedding_type\" is \"relative_key\": heed computes "
      "only \"absolute\"");
  EXPECT_THAT(complaint("\"is_decoder\": false", "\"is_decoder\": true"),
              HasSubstr("\"is_decoder\" is true"));
  EXPECT_THAT(complaint("\"hidden_size\"", "\"hidden\""), HasSubstr("it has no \"hidden_size\""));
}

TEST(ImportBert, OtherActivationsReachTheHead) {
  Import import =
      changed_import("bert_masked_lm", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\"");
  const MaskedModelConfig* const config = import.model.config_of<MaskedModel>();
  ASSERT_NE(config, nullptr);
  EXPECT_EQ(config->head, Activation::relu);
  EXPECT_EQ(config->encoder.block.activation, FeedForwardKind::relu);
}

}  // namespace
}  // namespace heed::bert_test
