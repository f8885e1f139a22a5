// What models of Reformer layers share: layers named by words, first values, and messages.
#include "heed/models/reformer_block.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "tests/support/error_message.h"

namespace heed::reformer_block_test {
namespace {

ReformerLayers layers_of(std::string_view words) {
  return {.model = "m", .key = "layers", .words = words, .causal = true};
}

TEST(ReformerBlock, WordsNameTheAttentionOfEachLayer) {
  const ReformerBlock block{.embed = 8, .heads = 2, .lsh = "lsh buckets=2", .feed_forward_rows = 3};
  const ReversibleStackConfig stack = block.stack(layers_of(" lsh  full local "));
  const std::vector<AttentionChoice> attentions = attentions_of(stack);
  ASSERT_EQ(attentions.size(), 3U);
  EXPECT_EQ(attentions[0], block.lsh);
  EXPECT_EQ(attentions[1], AttentionChoice("multi_head"));
  EXPECT_EQ(attentions[2], block.local);
  EXPECT_EQ(stack.feed_forward_rows, 3);
  EXPECT_EQ(stack.blocks[2].embed, 8);
  EXPECT_EQ(block.embedding(7).vocabulary, 7);
}

double deviation(const Tensor& x) { return std::sqrt(mean(square(x)).item()); }

// Matrices at the end of a branch are divided by the square root of the number of branches.
TEST(ReformerBlock, FirstValuesDependOnTheNumberOfBranches) {
  const ReformerBlock block{.embed = 64};
  for (const LayerKind kind : {LayerKind::encoder, LayerKind::decoder}) {
    ReversibleStackConfig config = block.stack(layers_of("full full"));
    config.kind = kind;
    Generator generator(1);
    ReversibleStack stack(config, generator);
    initialise_reformer(stack, generator);
    const FeedForward& feed = *stack.layers[1].feed_forward.plain;
    const double branches = kind == LayerKind::encoder ? 4 : 6;
    EXPECT_NEAR(deviation(feed.linear1.weight.data), 0.02, 5e-4);
    EXPECT_NEAR(deviation(feed.linear2.weight.data), 0.02 / std::sqrt(branches), 3e-4);
    EXPECT_EQ(deviation(feed.linear2.bias), 0.0);
  }
}

TEST(ReformerBlock, WrongLayersSayWhatIsWrong) {
  const auto complaint = [](const char* words, const ReformerBlock& block = {}) {
    return error_message(
        [&] { block.validate({.model = "m", .key = "layers", .words = words, .causal = true}); });
  };
  EXPECT_EQ(complaint("lsh full"), "(no error)");
  EXPECT_EQ(complaint("lsh ful"), "[m] layers has the word \"ful\": did you mean \"full\"?");
  EXPECT_EQ(complaint("quadratic"),
            "[m] layers has the word \"quadratic\": each layer is lsh, local or full");
  EXPECT_EQ(complaint(""),
            "[m] layers has 0 words: give one for each layer, such as \"lsh local\"");
  EXPECT_EQ(complaint("local", {.dropout = 1.0}),
            "[block] dropout 1: it must be at least 0 and below 1");
}

}  // namespace
}  // namespace heed::reformer_block_test
