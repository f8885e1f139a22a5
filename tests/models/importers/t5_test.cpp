// T5, T5 1.1 and mT5 compared with transformers.
#include "heed/models/importers/t5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/models/transformer.h"
#include "tests/models/importers/hf_translator.h"

namespace heed::t5_test {
namespace {

using testing::HasSubstr;

TEST(ImportT5, Golden) { test::check_encoder_decoder("t5"); }
TEST(ImportT5, GoldenT5V11) { test::check_encoder_decoder("t5_v1_1"); }
TEST(ImportT5, GoldenMt5) { test::check_encoder_decoder("mt5"); }

TEST(ImportT5, EmbeddingsAndPositionsAreShared) {
  const auto storage = [](const Tensor& x) { return x.storage(); };
  const auto first = test::HfCase("t5").model<Transformer>();
  EXPECT_EQ(storage(first->output.weight.data), storage(first->source.tokens.weight.data));
  const auto second = test::HfCase("t5_v1_1").model<Transformer>();
  EXPECT_EQ(storage(second->target.tokens.weight.data), storage(second->source.tokens.weight.data));
  EXPECT_EQ(second->config().tied, Tied::embeddings);
  EXPECT_EQ(second->config().block.activation, FeedForwardKind::geglu_tanh);
  std::int64_t tables = 0;
  for (const NamedTensor& parameter : first->named_parameters()) {
    tables += parameter.name.ends_with("position.weight");
  }
  EXPECT_EQ(tables, 2);
}

TEST(ImportT5, SaysWhatIsWrong) {
  const test::HfCase golden("t5");
  EXPECT_THAT(test::complaint_about(golden, R"("feed_forward_proj": "gated-relu")"),
              HasSubstr("there is no activation \"relu\" with a gate"));
  EXPECT_THAT(
      test::complaint_about(golden, R"("feed_forward_proj": "gated-gelu")"),
      HasSubstr("'encoder.block.0.layer.1.DenseReluDense.wi_0.weight' [20, 16] is missing"));
  EXPECT_THAT(test::complaint_about(golden, R"("architectures": ["T5EncoderModel"])"),
              HasSubstr("T5EncoderModel"));
  EXPECT_THAT(test::complaint_about(golden, R"("d_kv": 3)"),
              HasSubstr("is [18, 16], expected [9, 16]"));
}

}  // namespace
}  // namespace heed::t5_test
