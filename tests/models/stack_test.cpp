// Stacks of layers: one layer after another, the norm after the last one, decoding with rows that
// come and go, and wrong use.
#include "heed/models/stack.h"

#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/nn/pack_weights.h"
#include "heed/ops/view.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::stack_test {
namespace {

using test::same_bits;

StackConfig small(std::int64_t layers = 3, bool norm = true) {
  return {.layers = layers,
          .block = {.embed = test::kEmbed,
                    .heads = test::kHeads,
                    .hidden = test::kHidden,
                    .norm = {.first = true, .final = norm},
                    .dropout = 0.0}};
}

StackConfig small_decoder(std::int64_t layers = 3) {
  StackConfig config = small(layers);
  config.kind = LayerKind::decoder;
  return config;
}

// Gradients of parameters and inputs, with activations kept or computed again; dropout draws the
// same numbers.
std::vector<Tensor> gradients(Stack& stack, bool again) {
  default_generator() = Generator(4);
  EXPECT_EQ(checkpoint_activations(stack, again), 1);
  Tensor x = randn({2, 5, test::kEmbed}).requires_grad();
  Tensor memory = randn({2, 4, test::kEmbed}).requires_grad();
  sum(square(stack({.x = x, .causal = true, .memory = memory}))).backward();
  std::vector<Tensor> all = {x.grad(), memory.grad()};
  for (const Tensor& parameter : stack.parameters()) all.push_back(parameter.grad());
  stack.zero_grad();
  return all;
}

TEST(Stack, ActivationsThatAreComputedAgainGiveTheSameGradients) {
  StackConfig config = small_decoder();
  config.block.dropout = 0.2;
  Stack stack(config);
  const std::vector<Tensor> kept = gradients(stack, false), again = gradients(stack, true);
  ASSERT_EQ(kept.size(), again.size());
  // The memory's gradient is summed layer by layer, in another order than on one tape.
  EXPECT_LE(test::max_relative_error(again[1], kept[1]), 1e-6);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i == 1) continue;
    EXPECT_TRUE(same_bits(kept[i], again[i])) << i;
  }
}

TEST(Stack, WithoutGradientsAnEncoderLeavesPaddingOut) {
  struct Case {
    const char *attention, *positions;
    bool is_packed;
  };
  for (const auto& [attention, positions, is_packed] :
       {Case{"multi_head", "sinusoidal", true}, Case{"multi_head", "t5", true},
        Case{"restricted left=2", "alibi", true}, Case{"multi_head", "rope", false},
        Case{"average", "sinusoidal", false}}) {
    SCOPED_TRACE(fmt::format("{}, {}", attention, positions));
    StackConfig config = small();
    config.block.attention = attention;
    config.block.positions = positions;
    Stack encoder(config);
    encoder.eval();
    const Tensor x = randn({4, 9, test::kEmbed});
    const Tensor lengths = from_values<std::int64_t>({9, 0, 1, 5}, {4});
    const Tensor padded = encoder({.x = x, .lengths = lengths});
    const NoGrad no_grad;
    pack_weights(encoder, PackedForm::f32);
    const Tensor packed = encoder({.x = x, .lengths = lengths});
    ASSERT_EQ(packed.shape(), padded.shape());
    for (const auto& [row, length] : {std::pair{0, 9}, {2, 1}, {3, 5}}) {
      const auto valid = [&, at = row, count = length](const Tensor& y) {
        return slice(slice(y, 0, at, at + 1), 1, 0, count);
      };
      EXPECT_LE(test::max_relative_error(valid(packed), valid(padded)), 2e-5) << row;
      const Tensor alone = encoder({.x = valid(x)});
      if (is_packed) {
        EXPECT_TRUE(same_bits(alone, valid(packed))) << row;
      }
    }
  }
}

TEST(Stack, IsOneLayerAfterAnother) {
  const Stack encoder(small());
  const Stack decoder(small_decoder());
  const Tensor x = randn({2, 5, test::kEmbed}), memory = randn({2, 4, test::kEmbed});
  Tensor y = x, z = x;
  for (const TransformerLayer& layer : encoder.layers) y = layer({.x = y});
  for (const TransformerLayer& layer : decoder.layers) {
    z = layer({.x = z, .causal = true, .memory = memory});
  }
  EXPECT_TRUE(same_bits(encoder({.x = x}), (*encoder.norm)(y)));
  EXPECT_TRUE(same_bits(decoder({.x = x, .causal = true, .memory = memory}), (*decoder.norm)(z)));
}

TEST(Stack, WithoutLayersGivesWhatItGets) {
  const Tensor x = randn({2, 5, test::kEmbed});
  EXPECT_TRUE(same_bits(Stack(small(0, false))({.x = x}), x));
  const Stack norm(small(0, true));
  EXPECT_TRUE(same_bits(norm({.x = x}), (*norm.norm)(x)));
}

TEST(Stack, NamesParametersAsPyTorchDoes) {
  const Stack decoder(small_decoder(2));
  std::vector<std::string> names;
  for (const NamedTensor& parameter : decoder.named_parameters()) names.push_back(parameter.name);
  EXPECT_EQ(names.front(), "layers.0.self_attn.in_proj_weight");
  EXPECT_EQ(names.back(), "norm.bias");
  EXPECT_NE(std::ranges::find(names, "layers.1.multihead_attn.out_proj.bias"), names.end());
}

TEST(Stack, TakesMasksAndLengthsToEveryLayer) {
  const Stack encoder(small());
  const Tensor x = randn({2, 5, test::kEmbed}), lengths = test::lengths_of({5, 3});
  std::vector<LayerWeights> seen;
  encoder({.x = x, .lengths = lengths, .causal = true}, &seen);
  ASSERT_EQ(seen.size(), 3U);
  for (const LayerWeights& layer : seen) {
    for (std::int64_t i = 0; i < layer.self.numel(); ++i) {
      const std::int64_t b = i / (test::kHeads * 25), row = i / 5 % 5, column = i % 5;
      const bool hidden = column > row || (b == 1 && column >= 3);
      EXPECT_EQ(layer.self.data<float>()[i] == 0.0f, hidden) << b << ", " << row << ", " << column;
    }
  }
}

// A stack as expect_steps_give needs it: its steps take vectors instead of tokens.
struct Steps {
  const Stack& stack;
  StackState state;
  Tensor step(const Tensor& x) { return stack.step(x, state); }
  void reorder(std::span<const std::int64_t> from) { state.reorder(from); }
};

TEST(Stack, StepsGiveTheWholeWhileRowsComeAndGo) {
  const NoGrad no_grad;
  const Tensor x = randn({3, 8, test::kEmbed}), memory = randn({3, 4, test::kEmbed});
  const Tensor lengths = test::lengths_of({4, 2, 3});
  const Stack encoder(small());
  Steps plain{encoder, encoder.start({.batch = 3})};
  test::expect_steps_give(plain, x, encoder({.x = x, .causal = true}));
  const Stack decoder(small_decoder());
  Steps crossed{decoder, decoder.start({.batch = 3, .memory = memory, .lengths = lengths})};
  test::expect_steps_give(
      crossed, x, decoder({.x = x, .causal = true, .memory = memory, .memory_lengths = lengths}));
}

TEST(Stack, AllRowsMayBeDropped) {
  const Stack encoder(small());
  StackState state = encoder.start({.batch = 2});
  encoder.step(randn({2, 1, test::kEmbed}), state);
  state.reorder(std::vector<std::int64_t>{});
  EXPECT_EQ(encoder.step(randn({0, 1, test::kEmbed}), state).size(0), 0);
}

TEST(Stack, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { Stack stack(small(-1)); }),
            "[stack] -1 layers: give a number from 0 to 10000");
  const Stack three(small(3)), two(small(2));
  StackState state = two.start({.batch = 1});
  EXPECT_EQ(error_message([&] {
              three.step(randn({1, 1, test::kEmbed}), state);
            }),
            "[stack] the state has 2 layers, the stack 3: give what start() returned");
  EXPECT_NE(error_message([&] { state.reorder(std::vector<std::int64_t>{1}); }), "(no error)");
}

}  // namespace
}  // namespace heed::stack_test
