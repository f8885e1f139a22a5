// Vectors of texts: order, batches, prompts, lengths; and the texts nearest to queries.
#include "heed/generation/embed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::embed_test {
namespace {

using test::tiny_embedder;
using testing::HasSubstr;

const std::vector<std::string> kTexts = {"bad", "a cab dead bee", "", "hhhh", "gh", "bad bad"};

std::vector<float> row_of(const Tensor& x, std::int64_t row) {
  const auto E = static_cast<std::size_t>(x.size(1));
  const auto all = x.values<float>().subspan(static_cast<std::size_t>(row) * E, E);
  return {all.begin(), all.end()};
}

TEST(Embed, KeepsTheOrderWhateverTheBatches) {
  const TextEmbedder embedder = tiny_embedder();
  int batches = 0;
  const auto count = [&] { ++batches; };
  const Tensor together = embed_texts(embedder, kTexts, {}, kBatchTokens, count);
  EXPECT_EQ(batches, 1);
  EXPECT_EQ(to_string(together.shape()), "[6, 16]");
  const Tensor few = embed_texts(embedder, kTexts, {}, 16, count);
  EXPECT_GT(batches, 2);
  EXPECT_LE(test::max_relative_error(few, together), 1e-5);
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    const auto row = row_of(together, static_cast<std::int64_t>(i));
    const auto alone = row_of(embed_texts(embedder, {&kTexts[i], 1}), 0);
    EXPECT_NEAR(cosine(row, alone), 1.0, 1e-6) << kTexts[i];
    double squares = 0.0;
    for (const float x : row) squares += static_cast<double>(x) * static_cast<double>(x);
    EXPECT_NEAR(squares, 1.0, 1e-5) << "the length that its config says";
  }
  EXPECT_EQ(embed_texts(embedder, {}).size(0), 0);
  EXPECT_EQ(error_message([&] {
              embed_texts(embedder, kTexts, {}, kBatchTokens, [] { throw Error("enough"); });
            }),
            "enough");
}

TEST(Embed, OptionsReplaceThoseOfTheModel) {
  const TextEmbedder embedder = tiny_embedder();
  const std::vector<std::string> one = {"bad"};
  const auto states = embedder.model->states(
      batch_of(std::vector<ReadText>{read_text(embedder, "bad")}, 0));  // [1, T, E]
  const Tensor first = embed_texts(embedder, one, {.pooling = Pooling::first, .normalize = false});
  EXPECT_LE(test::max_relative_error(first, pool(states, {}, Pooling::first)), 1e-6);
  EXPECT_GT(test::max_relative_error(first, embed_texts(embedder, one)), 0.01);
}

TEST(Embed, PromptsAreBeforeTexts) {
  TextEmbedder embedder = tiny_embedder();
  const std::vector<std::string> one = {"bad"}, whole = {"a bad"};
  const Tensor expected = embed_texts(embedder, whole);
  EXPECT_TRUE(test::same_bits(embed_texts(embedder, one, {.prompt = "a "}), expected));
  embedder.prompt = "a ";
  EXPECT_TRUE(test::same_bits(embed_texts(embedder, one), expected));
  EXPECT_TRUE(test::same_bits(embed_texts(embedder, whole, {.prompt = ""}), expected));
}

TEST(Embed, ReadsNoMoreThanItMay) {
  const TextEmbedder embedder = tiny_embedder();
  const std::vector<std::string> longer = {"abcdef"}, shorter = {"ab"};
  EXPECT_TRUE(test::same_bits(embed_texts(embedder, longer, {.max_source = 3}),
                              embed_texts(embedder, shorter)));
  EXPECT_THAT(error_message([&] { embed_texts(embedder, longer, {.max_source = 0}); }),
              HasSubstr("max_source"));
}

TEST(Cosine, IsThatOfTheAngle) {
  const std::vector<float> x = {3.0f, 0.0f}, y = {2.0f, 2.0f}, z = {0.0f, 0.0f};
  EXPECT_DOUBLE_EQ(cosine(x, x), 1.0);
  EXPECT_NEAR(cosine(x, y), std::sqrt(0.5), 1e-15);
  EXPECT_EQ(cosine(x, z), 0.0);
  EXPECT_THAT(error_message([&] { cosine(x, std::vector<float>(3)); }), HasSubstr("of 2 and of 3"));
}

TEST(NearestTexts, AreTheMostSimilarFirst) {
  NearestTexts nearest({{1.0f, 0.0f}, {0.0f, 1.0f}}, 2);
  const auto names = [&](std::size_t query) {
    std::vector<std::string> texts;
    for (const NearText& near : nearest.found()[query]) texts.push_back(near.text);
    return texts;
  };
  nearest.add("east", std::vector<float>{2.0f, 0.1f});
  EXPECT_EQ(names(0), (std::vector<std::string>{"east"})) << "fewer than asked for";
  nearest.add("north", std::vector<float>{0.1f, 2.0f});
  nearest.add("north-east", std::vector<float>{1.0f, 1.0f});
  nearest.add("east again", std::vector<float>{2.0f, 0.1f});
  EXPECT_EQ(names(0), (std::vector<std::string>{"east", "east again"})) << "the earlier one first";
  EXPECT_EQ(names(1), (std::vector<std::string>{"north", "north-east"}));
  EXPECT_EQ(nearest.found()[0][1].number, 3);
  EXPECT_NEAR(nearest.found()[1][1].similarity, std::sqrt(0.5), 1e-6);
  EXPECT_THAT(error_message([] { NearestTexts none({}, 0); }), HasSubstr("at least one"));
}

}  // namespace
}  // namespace heed::embed_test
