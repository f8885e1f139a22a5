// A given translation examined: the scores of the search, and attention weights with their means.
#include "heed/generation/examine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/random.h"
#include "heed/tensor/create.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::letters;
using test::tiny_translator;
using testing::HasSubstr;

TEST(Examine, ScoresAreThoseOfTheSearch) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  const SearchOptions search{.beam_size = 4, .n_best = 3, .length_penalty = 0.7};
  const std::vector<std::string> sentences = {"abc", "hgfe dcba"};
  const auto all = translator.translate(sentences, {.search = search});
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto source = translator.read(sentences[i]);
    for (const Translation& found : all[i]) {
      const Hypothesis& h = found.hypothesis;
      const Hypothesis again = examine_score(translator, {source, h.tokens}, search);
      EXPECT_EQ(again.tokens, h.tokens);
      EXPECT_NEAR(again.score, h.score, 1e-5);
      EXPECT_NEAR(again.log_probability, h.log_probability, 1e-4);
      ASSERT_EQ(again.token_log_probabilities.size(), h.tokens.size() + 1);
      for (std::size_t t = 0; t <= h.tokens.size(); ++t) {
        EXPECT_NEAR(again.token_log_probabilities[t], h.token_log_probabilities[t], 1e-4);
      }
    }
  }
}

TEST(Examine, WeightsHaveARowForEachTokenAndTheEnd) {
  const Translator translator = tiny_translator(letters(), letters("uvwxyz"));
  const auto source = translator.read("abc");
  const std::vector<std::int32_t> tokens = {4, 5};
  const ModelWeights weights = examine_weights(translator, {source, tokens});
  EXPECT_EQ(weights.encoder.at(0).self.shape(), (Shape{1, 2, 4, 4}));
  EXPECT_EQ(weights.decoder.at(0).self.shape(), (Shape{1, 2, 3, 3}));
  EXPECT_EQ(weights.decoder.at(0).cross.shape(), (Shape{1, 2, 3, 4}));
}

// Two layers of two heads, one target token and two source tokens.
ModelWeights by_hand() {
  ModelWeights weights;
  for (const float first : {0.0f, 0.5f}) {
    const std::vector<float> values = {first, 1 - first, 0.5f + first, 0.5f - first};
    LayerWeights layer;
    layer.cross = from_values(std::span<const float>(values), {1, 2, 1, 2});
    weights.decoder.push_back(layer);
  }
  return weights;
}

TEST(Examine, AttentionOfALayerIsTheMeanOverItsHeads) {
  const auto values = [](std::int64_t layer) {
    return source_attention(by_hand(), layer).to_vector<float>();
  };
  EXPECT_THAT(values(1), testing::ElementsAre(0.25f, 0.75f));
  EXPECT_THAT(values(2), testing::ElementsAre(0.75f, 0.25f));
  EXPECT_EQ(source_attention(by_hand(), 1).shape(), (Shape{1, 2}));
}

// Each weight divided by the sum of its column.
std::vector<double> by_columns(const std::vector<double>& weights, std::size_t S) {
  std::vector<double> sums(S), result(weights);
  for (std::size_t i = 0; i < weights.size(); ++i) sums[i % S] += weights[i];
  for (std::size_t i = 0; i < weights.size(); ++i) result[i] /= sums[i % S];
  return result;
}

// The weights [T, S] of all layers together, as examine.h defines them.
std::vector<double> all_layers(const std::vector<std::vector<float>>& layers, std::size_t T,
                               std::size_t S) {
  std::vector<double> sum(T * S);
  for (std::size_t l = layers.size() / 2; l < layers.size(); ++l) {
    for (std::size_t i = 0; i < T * S; ++i) sum[i] += layers[l][i];
  }
  const std::vector<double> upper = by_columns(sum, S);
  for (std::size_t l = 0; l < layers.size() / 2; ++l) {
    const std::vector<float>& now = layers[l];
    std::vector<float> later = now;
    for (std::size_t i = 0; i + S < T * S; ++i) later[i] = now[i + S];
    double agreement_now = 0.0, agreement_later = 0.0;
    for (std::size_t i = 0; i < T * S; ++i) {
      agreement_now += now[i] * upper[i];
      agreement_later += later[i] * upper[i];
    }
    for (std::size_t i = 0; i < T * S && agreement_later > agreement_now; ++i) sum[i] += later[i];
  }
  std::vector<double> result = by_columns(sum, S);
  for (std::size_t t = 0; t < T; ++t) {
    double total = 0.0;
    for (std::size_t s = 0; s < S; ++s) total += result[t * S + s];
    for (std::size_t s = 0; s < S; ++s) result[t * S + s] /= total;
  }
  return result;
}

TEST(Examine, AttentionOfAllLayersIsThatOfTheDefinition) {
  for (const std::size_t layers : {1u, 2u, 3u, 6u}) {
    for (const std::size_t T : {1u, 2u, 7u}) {
      constexpr std::size_t S = 5;
      Generator generator(layers * 10 + T);
      ModelWeights weights;
      std::vector<std::vector<float>> plain;
      for (std::size_t l = 0; l < layers; ++l) {
        const Tensor random =
            uniform({1, 1, static_cast<std::int64_t>(T), S}, 0.01, 1.0, generator);
        plain.push_back(random.to_vector<float>());
        weights.decoder.push_back({.self = {}, .cross = random});
      }
      const auto found = source_attention(weights).to_vector<float>();
      const auto expected = all_layers(plain, T, S);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6);
    }
  }
}

// A lower layer that attends to the source of the token before, an upper one to that of the token
// except once, and both of them most of all to the end: the links are still the diagonal.
TEST(Examine, AttentionOfAllLayersPutsLayersInStep) {
  const std::vector<float> lower = {0.1f, 0.1f, 0.1f, 0.7f,   // reads the start
                                    0.4f, 0.0f, 0.0f, 0.6f,   // reads token 0
                                    0.0f, 0.4f, 0.0f, 0.6f,   //
                                    0.0f, 0.0f, 0.4f, 0.6f};  // the end
  const std::vector<float> upper = {0.3f, 0.1f, 0.0f, 0.6f, 0.0f, 0.3f, 0.1f, 0.6f,
                                    0.2f, 0.0f, 0.1f, 0.7f, 0.0f, 0.0f, 0.0f, 1.0f};
  ModelWeights weights;
  for (const auto& layer : {lower, upper}) {
    weights.decoder.push_back(
        {.self = {}, .cross = from_values(std::span<const float>(layer), {1, 1, 4, 4})});
  }
  const Tensor all = source_attention(weights);
  EXPECT_EQ(to_pharaoh(hard_alignment(without_ends(all, {.source_after = 1, .target_after = 1}))),
            "0-0 1-1 2-2");
  const Tensor alone = source_attention(weights, 2);
  EXPECT_EQ(to_pharaoh(hard_alignment(without_ends(alone, {.source_after = 1, .target_after = 1}))),
            "0-0 0-2 1-1");
}

TEST(Examine, SourceTokensWithoutAttentionStayWithout) {
  const std::vector<float> values = {1.0f, 0.0f, 0.0f, 0.0f};  // a column and a row of zeros
  ModelWeights weights;
  weights.decoder.push_back(
      {.self = {}, .cross = from_values(std::span<const float>(values), {1, 1, 2, 2})});
  EXPECT_THAT(source_attention(weights).to_vector<float>(),
              testing::ElementsAre(1.0f, 0.0f, 0.0f, 0.0f));
}

TEST(Examine, NamesMistakes) {
  EXPECT_THAT(error_message([] { source_attention(by_hand(), 3); }),
              HasSubstr("layer 3: the decoder has layers 1 to 2"));
  ModelWeights none = by_hand();
  none.decoder[1].cross = {};
  EXPECT_THAT(error_message([&] { source_attention(none); }), HasSubstr("has no weights"));
}

}  // namespace
}  // namespace heed
