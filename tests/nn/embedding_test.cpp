// Embedding against PyTorch.
#include "heed/nn/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/nn/golden_module.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Embedding, Golden) {
  for (const std::string name : {"embedding", "embedding_padding_idx"}) {
    test::check_golden(name, [&](const test::Golden& g) -> test::Named {
      EmbeddingConfig config{.vocabulary = 17, .size = 5};
      if (g.metadata.contains("padding_idx")) config.padding = 2;
      Embedding layer(config);
      test::take_parameters(layer, g);
      return {{"y", layer(g["ids"])}};
    });
  }
}

TEST(Embedding, PaddingIsZeroAtFirstAndGetsNoGradient) {
  const Embedding layer({.vocabulary = 5, .size = 3, .padding = 4});
  const auto largest = [](const Tensor& row) {
    float most = 0.0f;
    for (const float v : row.to_vector<float>()) most = std::max(most, std::abs(v));
    return most;
  };
  EXPECT_EQ(largest(view::select(layer.weight.data, 0, 4)), 0.0f);
  EXPECT_GT(largest(view::select(layer.weight.data, 0, 3)), 0.0f);
  sum(layer(from_values<std::int64_t>({4, 3}, {2}))).backward();
  EXPECT_EQ(largest(view::select(layer.weight.data.grad(), 0, 4)), 0.0f);
  EXPECT_EQ(largest(view::select(layer.weight.data.grad(), 0, 3)), 1.0f);
}

TEST(Embedding, RefusesBadConfigs) {
  EXPECT_THAT(error_message([] { Embedding({.vocabulary = 5}); }),
              testing::HasSubstr("vocabulary 5, size 0"));
  EXPECT_THAT(error_message([] { Embedding({.vocabulary = 5, .size = 3, .padding = 5}); }),
              testing::HasSubstr("padding 5"));
}

TEST(Embedding, WithAPackedWeight) {
  Embedding layer({.vocabulary = 19, .size = 3, .padding = 4});
  const Tensor ids = from_values<std::int32_t>({18, 4, 0}, {3});
  const std::vector<float> expected = layer(ids).to_vector<float>();
  layer.weight.pack(PackedForm::f32);
  EXPECT_EQ(layer(ids).to_vector<float>(), expected);
  EXPECT_NE(error_message([&] { layer(from_values<std::int32_t>({19}, {1})); }), "(no error)");
}

}  // namespace
}  // namespace heed
