// A given translation examined: the scores of the search, and attention weights with their means.
#include "heed/generation/examine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(Examine, AttentionIsTheMeanOverHeadsAndLayers) {
  const auto values = [](std::optional<std::int64_t> layer) {
    return source_attention(by_hand(), layer).to_vector<float>();
  };
  EXPECT_THAT(values(1), testing::ElementsAre(0.25f, 0.75f));
  EXPECT_THAT(values(2), testing::ElementsAre(0.75f, 0.25f));
  EXPECT_THAT(values({}), testing::ElementsAre(0.5f, 0.5f));
  EXPECT_EQ(source_attention(by_hand()).shape(), (Shape{1, 2}));
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
