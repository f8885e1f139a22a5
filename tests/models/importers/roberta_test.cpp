// RoBERTa: results of transformers for a bare model and both heads.
#include "heed/models/importers/roberta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/importers/encoder_case.h"
#include "tests/support/error_message.h"

namespace heed::roberta_test {
namespace {

TEST(ImportRoberta, GivesTheResultsOfTransformers) {
  test::expect_golden_states("roberta");
  test::expect_golden_fillings("roberta_masked_lm");
  test::expect_golden_classes("roberta_classifier");
}

TEST(ImportRoberta, XlmRobertaIsTheSame) { test::expect_golden_fillings("xlm_roberta"); }

TEST(ImportRoberta, PositionsBeginAfterThePaddingToken) {
  const test::HfCase golden("roberta");
  const auto model = golden.model<EncodingModel>();
  EXPECT_EQ(model->max_length(), 16) << "18 rows, of which two come before the first position";
  Import import = test::changed_import("roberta", "\"pad_token_id\": 1", "\"pad_token_id\": 3");
  EXPECT_EQ(import.model.config_of<SentenceEncoder>()->encoder.block.positions.text(),
            "learned max_length=18 offset=4");
}

}  // namespace
}  // namespace heed::roberta_test
