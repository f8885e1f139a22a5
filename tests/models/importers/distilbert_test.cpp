// DistilBERT: results of transformers for a bare model and both heads.
#include "heed/models/importers/distilbert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/importers/encoder_case.h"
#include "tests/support/error_message.h"

namespace heed::distilbert_test {
namespace {

TEST(ImportDistilbert, GivesTheResultsOfTransformers) {
  test::expect_golden_states("distilbert");
  test::expect_golden_fillings("distilbert_masked_lm");
  test::expect_golden_classes("distilbert_classifier");
}

TEST(ImportDistilbert, TypesOfTokensAreIgnored) {
  const NoGrad no_grad;
  const test::HfCase golden("distilbert");
  TextBatch batch = test::batch_of(golden);
  batch.types = golden["in.ids"];
  test::expect_near(golden.model<EncodingModel>()->states(batch), golden, "out.hidden");
}

TEST(ImportDistilbert, AMissingTensorIsNamed) {
  EXPECT_THAT(error_message([] {
                const test::HfCase golden("distilbert");
                const Import import =
                    test::changed_import("distilbert", "\"n_layers\": 2", "\"n_layers\": 3");
                import_model(import, golden.tensors());
              }),
              testing::HasSubstr("tensor 'distilbert.transformer.layer.2.attention.q_lin.weight' "
                                 "[16, 16] is missing"));
}

}  // namespace
}  // namespace heed::distilbert_test
