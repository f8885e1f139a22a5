// MPNet: results of transformers for a bare model and both heads, with texts that reach the wide
// buckets of distances.
#include "heed/models/importers/mpnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/importers/encoder_case.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::mpnet_test {
namespace {

TEST(ImportMpnet, GivesTheResultsOfTransformers) {
  test::expect_golden_states("mpnet");
  test::expect_golden_fillings("mpnet_masked_lm");
  test::expect_golden_classes("mpnet_classifier");
}

TEST(ImportMpnet, LayersShareTheBiasOfDistances) {
  const auto model = test::HfCase("mpnet").model<EncodingModel>();
  std::vector<const std::byte*> seen;
  for (const NamedTensor& parameter : model->every_name()) {
    if (parameter.name.ends_with("self_attn.position.weight")) {
      seen.push_back(parameter.tensor.storage()->data());
    }
  }
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0], seen[1]);
}

TEST(ImportMpnet, OtherBucketsAreRefused) {
  EXPECT_THAT(error_message([] {
                test::changed_import("mpnet", "\"relative_attention_num_buckets\": 32",
                                     "\"relative_attention_num_buckets\": 64");
              }),
              testing::HasSubstr("\"relative_attention_num_buckets\" is 64"));
}

}  // namespace
}  // namespace heed::mpnet_test
