// The three ways to treat activations give the same results; the reversible one takes the same
// memory for any number of layers.
#include "heed/models/reversible_stack.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/base/arena.h"
#include "heed/base/threads.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::reversible_stack_test {
namespace {

ReversibleStackConfig config_of(int layers, Activations activations, double dropout = 0.0) {
  ReversibleStackConfig config{.feed_forward_rows = 7, .activations = activations};
  for (int i = 0; i < layers; ++i) {
    BlockConfig block{.embed = 16, .heads = 2, .norm = {.first = true}, .dropout = dropout};
    block.attention =
        i % 2 == 0 ? "lsh buckets=4 chunk=8 rounds=2 redraw=true unique=true" : "multi_head";
    config.blocks.push_back(block);
  }
  return config;
}

// The result and all gradients.
std::vector<Tensor> run(Activations activations, double dropout) {
  Generator generator(3);
  const ReversibleStack stack(config_of(4, activations, dropout), generator);
  default_generator() = Generator(5);
  Tensor x = normal({2, 33, 16}, 0.0, 1.0, generator).requires_grad();
  const Tensor y =
      stack({.x = x, .lengths = from_values({33L, 20L}, {2}), .causal = true});  // [B, T, 2 E]
  sum(y * y + y).backward();
  std::vector<Tensor> all = {y.detach(), x.grad()};
  for (const Tensor& parameter : stack.parameters()) all.push_back(parameter.grad());
  return all;
}

TEST(ReversibleStack, ActivationsAreKeptOrComputedAgain) {
  for (const double dropout : {0.0, 0.2}) {
    const std::vector<Tensor> kept = run(Activations::kept, dropout);
    const std::vector<Tensor> again = run(Activations::checkpointed, dropout);
    const std::vector<Tensor> back = run(Activations::reversible, dropout);
    EXPECT_TRUE(test::same_bits(back[0], kept[0]));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      EXPECT_TRUE(test::same_bits(again[i], kept[i])) << i;
      EXPECT_LT(test::max_relative_error(back[i], kept[i]), 2e-5) << i;
    }
  }
}

TEST(ReversibleStack, MemoryDoesNotDependOnDepth) {
  const int before = num_threads();
  set_num_threads(1);  // how many workers hold their workspace at once is a matter of chance
  const auto peak = [](int layers, Activations activations) {
    const ReversibleStack stack(config_of(layers, activations));
    Tensor x = randn({4, 256, 16}).requires_grad();
    arena::reset_peak();
    const std::size_t live = arena::stats().bytes_live;
    sum(stack({.x = x, .causal = true})).backward();
    return arena::stats().bytes_peak - live;
  };
  const std::size_t four = peak(4, Activations::reversible);
  // What grows are the gradients of the parameters, about 14 KB for a layer.
  EXPECT_LT(peak(16, Activations::reversible), four + 12 * 32'000);
  EXPECT_GT(peak(16, Activations::kept), 4 * four);
  set_num_threads(before);
}

TEST(ReversibleStack, StepsAreTheCausalCall) {
  ReversibleStack stack(config_of(3, Activations::reversible));
  stack.eval();
  const Tensor x = randn({2, 21, 16});
  const Tensor whole = stack({.x = x, .causal = true});  // [B, T, 2 E]
  StackState state = stack.start({.batch = 2});
  for (std::int64_t t = 0, next = 4; t < 21; t = next, ++next) {
    EXPECT_LT(
        test::max_relative_error(stack.step(slice(x, 1, t, next), state), slice(whole, 1, t, next)),
        1e-4)
        << t;
  }
}

// Layers with attention to a memory have three parts, so every second one begins with the other
// stream.
TEST(ReversibleStack, StepsOfADecoderAreTheCausalCall) {
  for (const StreamJoin join : {StreamJoin::both, StreamJoin::mean}) {
    ReversibleStackConfig config = config_of(3, Activations::reversible);
    config.kind = LayerKind::decoder;
    config.join = join;
    ReversibleStack stack(config);
    stack.eval();
    const Tensor x = randn({2, 21, 16}), memory = randn({2, 9, 16});
    const Tensor lengths = from_values({9L, 4L}, {2});
    const Tensor whole =
        stack({.x = x, .causal = true, .memory = memory, .memory_lengths = lengths});
    EXPECT_EQ(whole.size(2), join == StreamJoin::both ? 32 : 16);
    StackState state = stack.start({.batch = 2, .memory = memory, .lengths = lengths});
    for (std::int64_t t = 0, next = 4; t < 21; t = next, ++next) {
      EXPECT_LT(test::max_relative_error(stack.step(slice(x, 1, t, next), state),
                                         slice(whole, 1, t, next)),
                1e-4)
          << t;
    }
  }
}

TEST(ReversibleStack, AMemoryBelongsToDecoders) {
  ReversibleStackConfig config = config_of(1, Activations::reversible);
  const Tensor x = randn({1, 3, 16});
  const ReversibleStack encoder(config);
  EXPECT_EQ(error_message([&] { encoder({.x = x, .memory = x}); }),
            "[transformer_layer] memory is [1, 3, 16]: an encoder layer has none; use a decoder "
            "layer");
  config.kind = LayerKind::decoder;
  const ReversibleStack decoder(config);
  EXPECT_EQ(error_message([&] { decoder({.x = x}); }),
            "[transformer_layer] memory is undefined: a decoder layer needs the output of the "
            "encoder");
}

TEST(ReversibleStack, NeedsALayer) {
  EXPECT_EQ(error_message([] { ReversibleStack({}); }),
            "[reversible_stack] there are no layers: give at least one");
}

}  // namespace
}  // namespace heed::reversible_stack_test
