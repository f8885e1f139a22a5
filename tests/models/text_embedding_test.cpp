// Tokens as vectors: scale, every position code that is added to embeddings, padding, dropout.
#include "heed/models/text_embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/choice.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::text_embedding_test {
namespace {

using test::random_ids;
using test::same_bits;

TextEmbeddingConfig small(std::string_view positions = "none") {
  return {.vocabulary = test::kVocabulary,
          .embed = test::kEmbed,
          .position = PositionChoice(positions).config()};
}

TEST(TextEmbedding, ScalesByTheRootOfItsSize) {
  TextEmbeddingConfig config = small();
  const TextEmbedding scaled(config);
  config.scaled = false;
  TextEmbedding plain(config);
  plain.tokens.weight = scaled.tokens.weight;
  const Tensor ids = random_ids(2, 5, 1);
  EXPECT_TRUE(same_bits(plain(ids), plain.tokens(ids)));
  EXPECT_TRUE(same_bits(scaled(ids), plain.tokens(ids) * 4.0)) << "the root of 16";
}

TEST(TextEmbedding, StartsWithTheVarianceThatItsUseAsksFor) {
  const auto deviation = [](bool scaled) {
    const TextEmbedding embedding({.vocabulary = 2000, .embed = 64, .scaled = scaled});
    return std::sqrt(variance(embedding.tokens.weight.data).item());
  };
  EXPECT_NEAR(deviation(true), 1.0 / 8.0, 2e-3);
  EXPECT_NEAR(deviation(false), 0.02, 4e-4);
}

TEST(TextEmbedding, AddsEveryCodeThatIsAdded) {
  const Tensor ids = random_ids(3, 7, 2);
  for (const PositionKind& kind : positions()) {
    SCOPED_TRACE(kind.name);
    TextEmbedding embedding(small(kind.name));
    const Tensor without = embedding.tokens(ids) * 4.0;
    ASSERT_EQ(embedding.position != nullptr, kind.way == PositionWay::embeddings);
    if (!embedding.position) {
      EXPECT_TRUE(same_bits(embedding(ids), without)) << "acts inside attention, not here";
      continue;
    }
    EXPECT_TRUE(same_bits(embedding(ids), embedding.position->embed(without)));
    EXPECT_FALSE(same_bits(embedding(ids), without));
    const Tensor tail = clone_data(view::slice(ids, 1, 3, 7));
    EXPECT_TRUE(
        same_bits(embedding(tail, 3), clone_data(view::slice(embedding(ids), 1, 3, 7).detach())))
        << "the first token may stand anywhere";
    test::expect_learns(embedding, sum(square(embedding(ids))));
  }
}

TEST(TextEmbedding, PaddingIsAndStaysZero) {
  TextEmbeddingConfig config = small();
  config.padding = 3;
  const TextEmbedding embedding(config);
  const Tensor ids = from_values<std::int64_t>({3, 1, 3}, {1, 3});
  const Tensor x = embedding(ids);  // [1, 3, E]
  const std::vector<float> values = x.to_vector<float>();
  sum(square(x + 1.0)).backward();
  const std::vector<float> gradient = embedding.tokens.weight.data.grad().to_vector<float>();
  for (std::size_t i = 0; i < static_cast<std::size_t>(test::kEmbed); ++i) {
    EXPECT_EQ(values[i], 0.0f);
    EXPECT_NE(values[test::kEmbed + i], 0.0f);
    EXPECT_EQ(gradient[3 * test::kEmbed + i], 0.0f);
    EXPECT_NE(gradient[1 * test::kEmbed + i], 0.0f);
  }
}

TEST(TextEmbedding, DropsOnlyWhileTraining) {
  TextEmbeddingConfig config = small("sinusoidal");
  config.dropout = 0.5;
  TextEmbedding embedding(config);
  const Tensor ids = random_ids(2, 9, 3);
  EXPECT_FALSE(same_bits(embedding(ids), embedding(ids)));
  embedding.eval();
  EXPECT_TRUE(same_bits(embedding(ids), embedding(ids)));
}

TEST(TextEmbedding, TypesAndNormComeAfterThePositions) {
  TextEmbeddingConfig config = small("learned max_length=9");
  config.types = 2;
  config.norm = NormConfig{.size = test::kEmbed, .eps = 1e-12};
  const TextEmbedding embedding(config);
  const Tensor ids = random_ids(2, 5, 1);
  const Tensor types = from_values<std::int64_t>({0, 0, 1, 1, 1, 0, 1, 1, 0, 0}, {2, 5});
  const Tensor sum_of_all =
      embedding.position->embed(embedding.tokens(ids) * 4.0) + (*embedding.types)(types);
  EXPECT_LE(test::max_relative_error(embedding(ids, 0, types), (*embedding.norm)(sum_of_all)),
            1e-6);
  const Tensor zeros_of = zeros({2, 5}, DType::i64);
  EXPECT_TRUE(same_bits(embedding(ids), embedding(ids, 0, zeros_of))) << "type 0 is the default";
  EXPECT_FALSE(same_bits(embedding(ids), embedding(ids, 0, types)));
  std::vector<std::string> names;
  for (const NamedTensor& parameter : embedding.named_parameters()) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"tokens.weight", "position.weight", "types.weight",
                                             "norm.weight", "norm.bias"}));
  test::expect_learns(embedding, sum(square(embedding(ids, 0, types) + 0.5)));
}

TEST(TextEmbedding, WrongUseSaysWhatIsWrong) {
  const TextEmbedding untyped(small());
  EXPECT_EQ(error_message([&] {
              untyped(random_ids(1, 2, 1), 0, zeros({1, 2}, DType::i64));
            }),
            "[embedding] token types were given to a model that has none: leave them out");
  EXPECT_EQ(error_message([] {
              TextEmbeddingConfig config = small();
              config.padding = 99;
              TextEmbedding embedding(config);
            }),
            "[embedding] padding 99: it must be a token of the vocabulary of 11");
  const TextEmbedding embedding(small("learned max_length=4"));
  EXPECT_NE(error_message([&] { embedding(random_ids(1, 5, 4)); }), "(no error)");
  EXPECT_NE(error_message([&] { embedding(random_ids(1, 1, 4), 4); }), "(no error)");
}

}  // namespace
}  // namespace heed::text_embedding_test
