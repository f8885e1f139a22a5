// GRU and LSTM against PyTorch: layers, directions, initial states, lengths.
#include "heed/nn/rnn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "tests/nn/golden_module.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::rnn_test {
namespace {

using test::Golden;
using test::Named;

constexpr const char* kSuffixes[] = {"",
                                     "_initial_state",
                                     "_2_layers",
                                     "_2_layers_bidirectional",
                                     "_lengths",
                                     "_2_layers_bidirectional_lengths",
                                     "_lengths_short"};

template <typename Layer>
void check_goldens(const std::string& kind) {
  for (const std::string suffix : kSuffixes) {
    test::check_golden(kind + suffix, [](const Golden& g) -> Named {
      Layer layer({.input = std::stol(g.text("input_size")),
                   .hidden = std::stol(g.text("hidden_size")),
                   .layers = std::stol(g.text("num_layers")),
                   .bidirectional = g.text("bidirectional") == "true"});
      test::take_parameters(layer, g);
      const auto optional = [&](const char* name) { return g.has(name) ? g[name] : Tensor(); };
      const RecurrentResult result = layer(
          g["x"],
          {.state = optional("h_0"), .cell = optional("c_0"), .lengths = optional("lengths")});
      Named outputs = {{"y", result.output}, {"h_n", result.state}};
      if (result.cell.defined()) outputs["c_n"] = result.cell;
      return outputs;
    });
  }
}

TEST(Gru, Golden) { check_goldens<Gru>("gru"); }
TEST(Lstm, Golden) { check_goldens<Lstm>("lstm"); }

TEST(Recurrent, NamesAreThoseOfPyTorch) {
  const Gru layer({.input = 2, .hidden = 3, .layers = 2, .bidirectional = true, .bias = false});
  std::vector<std::string> names;
  for (const NamedTensor& named : layer.named_parameters()) names.push_back(named.name);
  EXPECT_THAT(names, testing::ElementsAre("weight_ih_l0", "weight_hh_l0", "weight_ih_l0_reverse",
                                          "weight_hh_l0_reverse", "weight_ih_l1", "weight_hh_l1",
                                          "weight_ih_l1_reverse", "weight_hh_l1_reverse"));
}

TEST(Recurrent, RefusesWrongShapes) {
  EXPECT_THAT(error_message([] { Lstm({.input = 2}); }), testing::HasSubstr("hidden 0"));
  const Lstm layer({.input = 2, .hidden = 3, .layers = 2});
  EXPECT_THAT(error_message([&] {
                layer(zeros({4, 5, 3}));
              }),
              testing::HasSubstr("[lstm] x [4, 5, 3]: it must be [B, T, 2]"));
  EXPECT_THAT(error_message([&] {
                layer(zeros({4, 5, 2}), {.state = zeros({1, 4, 3})});
              }),
              testing::HasSubstr("an initial state is [1, 4, 3]: it must be [2, 4, 3]"));
  EXPECT_THAT(error_message([&] {
                layer(zeros({4, 5, 2}), {.cell = zeros({2, 4, 2})});
              }),
              testing::HasSubstr("it must be [2, 4, 3]"));
}

TEST(Recurrent, DropsBetweenLayersWhileTraining) {
  const Tensor x = randn({2, 3, 4});
  Gru one({.input = 4, .hidden = 5, .dropout = 0.5});
  EXPECT_TRUE(test::same_bits(one(x).output, one(x).output)) << "nothing after the last layer";
  Gru two({.input = 4, .hidden = 5, .layers = 2, .dropout = 0.5});
  EXPECT_FALSE(test::same_bits(two(x).output, two(x).output));
  two.eval();
  EXPECT_TRUE(test::same_bits(two(x).output, two(x).output));
}

TEST(Recurrent, WithoutBias) {
  const Gru layer({.input = 2, .hidden = 3, .bias = false});
  const RecurrentResult result = layer(zeros({1, 4, 2}));
  EXPECT_EQ(result.output.to_vector<float>(), std::vector<float>(12, 0.0f));
}

}  // namespace
}  // namespace heed::rnn_test
