// The common part of encoders: names of parameters, token types, a norm of the embeddings, layers
// that differ, and messages that name the model.
#include "heed/models/text_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::text_encoder_test {
namespace {

using test::lengths_of;
using test::random_ids;
using test::same_bits;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TextEncoderConfig small() {
  TextEncoderConfig config{.vocabulary = test::kVocabulary};
  config.block.embed = test::kEmbed;
  config.block.heads = test::kHeads;
  config.block.hidden = test::kHidden;
  config.block.dropout = 0.0;
  return config;
}

std::vector<std::string> names_of(const Module& module) {
  std::vector<std::string> names;
  for (const NamedTensor& parameter : module.named_parameters()) names.push_back(parameter.name);
  return names;
}

TEST(TextEncoder, HasThePartsThatTheConfigNames) {
  TextEncoderConfig config = small();
  const std::vector<std::string> plain = names_of(TextEncoder(config));
  EXPECT_THAT(plain, Contains("tokens.tokens.weight"));
  EXPECT_THAT(plain, Contains("encoder.layers.1.linear2.bias"));
  EXPECT_THAT(plain, Not(Contains("tokens.norm.weight")));
  EXPECT_THAT(plain, Not(Contains("tokens.types.weight")));
  config.types = 2;
  config.embedding_norm = true;
  const std::vector<std::string> bert = names_of(TextEncoder(config));
  EXPECT_THAT(bert, Contains("tokens.norm.weight"));
  EXPECT_THAT(bert, Contains("tokens.types.weight"));
}

TEST(TextEncoder, TypesOfTokensChangeTheStates) {
  const Tensor ids = random_ids(2, 5, 1), types = random_ids(2, 5, 2);
  TextEncoderConfig config = small();
  const TextEncoder without(config);
  EXPECT_TRUE(same_bits(without({.ids = ids, .types = types}), without({ids}))) << "it has none";
  config.types = test::kVocabulary;
  const TextEncoder with(config);
  EXPECT_FALSE(same_bits(with({.ids = ids, .types = types}), with({ids})));
  EXPECT_TRUE(same_bits(with({.ids = ids, .types = zeros({2, 5}, DType::i64)}), with({ids})));
}

TEST(TextEncoder, ScaledEmbeddingsAreScaled) {
  TextEncoderConfig config = small();
  config.block.positions = "none";
  Generator one(3), two(3);
  TextEncoder scaled(config, one);
  config.scaled_embeddings = false;
  TextEncoder plain(config, two);
  plain.tokens.tokens.weight = scaled.tokens.tokens.weight;
  const Tensor ids = random_ids(1, 4, 1);
  EXPECT_LE(test::max_relative_error(scaled.tokens(ids), plain.tokens(ids) * 4.0), 1e-6);
}

TEST(TextEncoder, LayersMayDiffer) {
  TextEncoderConfig config = small();
  config.block.layer_pattern = "GL";
  config.block.local_attention = "restricted left=1 right=1";
  config.validate("classifier");
  ASSERT_EQ(config.attentions().size(), 2U);
  const TextEncoder encoder(config);
  std::vector<LayerWeights> weights;
  encoder({random_ids(1, 6, 1)}, &weights);
  ASSERT_EQ(weights.size(), 2U);
  const auto corner = [&](std::size_t layer) { return weights[layer].self.to_vector<float>()[5]; };
  EXPECT_GT(corner(0), 0.0f);
  EXPECT_EQ(corner(1), 0.0f) << "the last position is outside the window of the first";
}

TEST(TextEncoder, MessagesNameTheModel) {
  TextEncoderConfig config = small();
  config.layers = 0;
  EXPECT_EQ(error_message([&] { config.validate("sentence_encoder"); }),
            "[sentence_encoder] 0 layers: at least one is needed");
  config = small();
  config.block.local_attention = "pointer";
  config.block.layer_pattern = "GL";
  EXPECT_THAT(error_message([&] { config.validate("masked_model"); }),
              HasSubstr("[masked_model] attention \"pointer\""));
}

}  // namespace
}  // namespace heed::text_encoder_test
