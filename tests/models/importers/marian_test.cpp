// Marian compared with transformers, with one vocabulary and with two.
#include "heed/models/importers/marian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/models/transformer.h"
#include "tests/models/importers/hf_translator.h"

namespace heed::marian_test {
namespace {

using testing::HasSubstr;

TEST(ImportMarian, Golden) { test::check_encoder_decoder("marian"); }
TEST(ImportMarian, TwoVocabularies) {
  test::check_encoder_decoder("marian_two_vocabularies");
  const auto model = test::HfCase("marian_two_vocabularies").model<TranslationModel>();
  EXPECT_EQ(model->source_vocabulary(), 67);
  EXPECT_EQ(model->target_vocabulary(), 59);
}

TEST(ImportMarian, WeightsAreUsedInPlace) {
  const test::HfCase golden("marian");
  const auto model = golden.model<Transformer>();
  const auto& file = *golden.tensors().find("model.shared.weight").bytes.data();
  EXPECT_EQ(model->source.tokens.weight.data.storage()->data() +
                model->source.tokens.weight.data.offset() * 4,
            &file);
}

TEST(ImportMarian, SaysWhatIsWrong) {
  const test::HfCase golden("marian");
  EXPECT_THAT(test::complaint_about(golden, R"("activation_function": "mish")"),
              HasSubstr("there is no activation \"mish\""));
  EXPECT_THAT(test::complaint_about(golden, R"("architectures": ["MarianForCausalLM"])"),
              HasSubstr("\"architectures\" names \"MarianForCausalLM\""));
  EXPECT_THAT(test::complaint_about(golden, R"("is_encoder_decoder": false)"),
              HasSubstr("\"is_encoder_decoder\" is false"));
  EXPECT_THAT(test::complaint_about(golden, R"("encoder_layers": 3)"),
              HasSubstr("tensor 'model.encoder.layers.2.self_attn.q_proj.weight'"));
  EXPECT_THAT(test::complaint_about(golden, R"("decoder_ffn_dim": 21)"),
              HasSubstr("expected [21, 16]"));
}

}  // namespace
}  // namespace heed::marian_test
