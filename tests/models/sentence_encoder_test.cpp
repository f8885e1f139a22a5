// The sentence encoder: pooling, projection, length, options that replace those of its config, and
// gradients of everything.
#include "heed/models/sentence_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/ops/reduce.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::sentence_encoder_test {
namespace {

using test::lengths_of;
using test::random_ids;
using test::row_of;
using test::same_bits;
using testing::HasSubstr;

SentenceEncoderConfig small() {
  SentenceEncoderConfig config{.encoder = {.vocabulary = test::kVocabulary}};
  config.encoder.block.embed = test::kEmbed;
  config.encoder.block.heads = test::kHeads;
  config.encoder.block.hidden = test::kHidden;
  config.encoder.block.dropout = 0.0;
  return config;
}

Tensor vectors_of(const SentenceEncoder& model, const TextBatch& batch,
                  const VectorOptions& options = {}) {
  return model.vectors(model.states(batch), batch.lengths, options);
}

TEST(SentenceEncoder, VectorsAreThePooledStates) {
  SentenceEncoderConfig config = small();
  config.pooling = Pooling::first;
  config.normalize = false;
  SentenceEncoder model(config);
  model.eval();
  const TextBatch batch{random_ids(3, 9, 1), lengths_of({9, 5, 7})};
  const Tensor states = model.states(batch);
  const Tensor first = pool(states, batch.lengths, Pooling::first);
  EXPECT_TRUE(same_bits(vectors_of(model, batch), first));
  EXPECT_TRUE(same_bits(vectors_of(model, batch, {.pooling = Pooling::last}),
                        pool(states, batch.lengths, Pooling::last)));
  EXPECT_TRUE(same_bits(vectors_of(model, batch, {.normalize = true}), unit_rows(first)));
  EXPECT_EQ(model.vector_size(), test::kEmbed);
}

TEST(SentenceEncoder, AProjectionChangesTheSize) {
  SentenceEncoderConfig config = small();
  config.projection = 6;
  config.projection_activation = Activation::tanh;
  SentenceEncoder model(config);
  model.eval();
  const TextBatch batch{random_ids(3, 9, 1), lengths_of({9, 5, 7})};
  EXPECT_EQ(to_string(vectors_of(model, batch).shape()), "[3, 6]");
  EXPECT_EQ(model.vector_size(), 6);
  const Tensor pooled = pool(model.states(batch), batch.lengths, Pooling::mean);
  const Linear& projection = *model.projection;
  const Tensor dense = projection.weight.product(pooled, {.bias = projection.bias});
  EXPECT_LE(test::max_relative_error(vectors_of(model, batch, {.normalize = false}),
                                     activate(Activation::tanh, dense)),
            1e-6);
}

TEST(SentenceEncoder, EveryParameterLearns) {
  SentenceEncoderConfig config = small();
  config.projection = 6;
  config.encoder.types = 2;
  config.encoder.embedding_norm = true;
  const SentenceEncoder model(config);
  const TextBatch batch{random_ids(3, 9, 1), lengths_of({9, 5, 7})};
  test::expect_learns(model, sum(vectors_of(model, batch) * randn({3, 6})));
}

TEST(SentenceEncoder, PaddingAndNeighboursDoNotMatter) {
  SentenceEncoder model(small());
  model.eval();
  const Tensor ids = random_ids(3, 9, 1), lengths = lengths_of({9, 5, 7});
  const Tensor y = vectors_of(model, {ids, lengths});
  const Tensor beside = vectors_of(model, {test::with_other_tokens(ids, 0, 0), lengths});
  for (const std::int64_t b : {1, 2}) EXPECT_TRUE(same_bits(row_of(beside, b), row_of(y, b))) << b;
  const Tensor padded = vectors_of(model, {test::with_other_tokens(ids, 1, 5), lengths});
  EXPECT_LE(test::max_relative_error(padded, y), 2e-6) << "tokens after the end of a row";
}

TEST(SentenceEncoder, ReadsAsManyTokensAsTheConfigSays) {
  SentenceEncoderConfig config = small();
  config.encoder.block.positions = "learned max_length=20";
  EXPECT_EQ(SentenceEncoder(config).max_length(), 20);
  config.max_tokens = 7;
  EXPECT_EQ(SentenceEncoder(config).max_length(), 7);
  config.max_tokens = 70;
  EXPECT_EQ(SentenceEncoder(config).max_length(), 20);
}

TEST(SentenceEncoder, WrongConfigsSayWhatIsWrong) {
  SentenceEncoderConfig config = small();
  config.encoder.vocabulary = 0;
  EXPECT_EQ(error_message([&] { SentenceEncoder model(config); }),
            "[sentence_encoder] a vocabulary of 0: give its size");
  config = small();
  config.projection = -1;
  EXPECT_THAT(error_message([&] { SentenceEncoder model(config); }), HasSubstr("projection -1"));
}

}  // namespace
}  // namespace heed::sentence_encoder_test
