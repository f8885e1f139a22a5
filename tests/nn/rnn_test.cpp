// GRU and LSTM against PyTorch: layers, directions, initial states, lengths.
#include "heed/nn/rnn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/nn/pack_weights.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
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

// Runs a stack step by step: states [B, T, H].
Tensor run_steps(const Recurrent& stack_of, const Tensor& x, const RecurrentStart& start) {
  RecurrentSteps steps(stack_of, start.state, start.cell);
  std::vector<Tensor> states;
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    states.push_back(steps.step(stack_of.weights[0].input_gates(select(x, 1, t))));
  }
  return stack(states, 1);
}

TEST(Rnn, StepsGiveTheWholeSequence) {
  for (const Cell cell : {Cell::gru, Cell::lstm}) {
    for (const std::int64_t layers : {1, 3}) {
      const auto layer = make_recurrent(cell, {.input = 4, .hidden = 7, .layers = layers});
      const Tensor x = randn({3, 5, 4}).requires_grad();
      RecurrentStart start{.state = randn({layers, 3, 7}).requires_grad()};
      if (cell == Cell::lstm) start.cell = randn({layers, 3, 7}).requires_grad();
      const Tensor whole = (*layer)(x, start).output;
      sum(square(whole)).backward();
      std::vector<Tensor> leaves = layer->parameters();
      leaves.insert(leaves.end(), {x, start.state});
      std::vector<Tensor> expected;
      for (Tensor& leaf : leaves) {
        expected.push_back(leaf.grad());
        leaf.set_grad({});
      }
      const Tensor steps = run_steps(*layer, x, start);
      EXPECT_LE(test::max_relative_error(steps, whole), 1e-6);
      sum(square(steps)).backward();
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        EXPECT_LE(test::max_relative_error(leaves[i].grad(), expected[i]), 2e-5) << i;
      }
    }
  }
}

TEST(Rnn, StepsFollowTheirSequences) {
  const auto layer = make_recurrent(Cell::lstm, {.input = 4, .hidden = 3, .layers = 2});
  const Tensor state = randn({2, 3, 3}), cell = randn({2, 3, 3});
  const Tensor gates = randn({3, 12}), later = randn({2, 12});
  RecurrentSteps steps(*layer, state, cell);
  steps.step(gates);
  RecurrentSteps copy = steps;
  const Tensor all = copy.step(concat({later, slice(later, 0, 0, 1)}, 0));  // rows 0, 1, 2
  const std::vector<std::int64_t> from = {2, 1};
  steps.reorder(from);
  const Tensor some = steps.step(later);
  EXPECT_LE(test::max_relative_error(select(some, 0, 0), select(all, 0, 2)), 1e-6);
  EXPECT_LE(test::max_relative_error(select(some, 0, 1), select(all, 0, 1)), 1e-6);
}

// Whole sequences and steps with packed weights: the values of the matrices as they were, and of
// each row the bits that it has alone.
TEST(Rnn, PackedWeights) {
  const NoGrad no_grad;
  const Tensor lengths = from_values<std::int64_t>({5, 2, 0}, {3});
  for (const Cell cell : {Cell::gru, Cell::lstm}) {
    for (const bool two : {false, true}) {
      const auto layer = make_recurrent(
          cell, {.input = 4, .hidden = 7, .layers = 2, .bidirectional = two, .reverse = !two});
      const std::int64_t states = two ? 4 : 2;
      const Tensor x = randn({3, 5, 4});
      RecurrentStart start{.state = randn({states, 3, 7}), .lengths = lengths};
      if (cell == Cell::lstm) start.cell = randn({states, 3, 7});
      const RecurrentResult before = (*layer)(x, start);
      pack_weights(*layer, PackedForm::f32);
      const RecurrentResult after = (*layer)(x, start);
      EXPECT_LE(test::max_relative_error(after.output, before.output), 1e-6);
      EXPECT_LE(test::max_relative_error(after.state, before.state), 1e-6);
      if (cell == Cell::lstm) {
        EXPECT_LE(test::max_relative_error(after.cell, before.cell), 1e-6);
      }
      for (std::int64_t b = 0; b < 3; ++b) {
        const auto row = [&](const Tensor& all, std::int64_t axis) {
          return all.defined() ? slice(all, axis, b, b + 1) : all;
        };
        const RecurrentResult alone = (*layer)(
            row(x, 0),
            {.state = row(start.state, 1), .cell = row(start.cell, 1), .lengths = row(lengths, 0)});
        EXPECT_TRUE(test::same_bits(alone.output, row(after.output, 0)));
        EXPECT_TRUE(test::same_bits(alone.state, row(after.state, 1)));
      }
    }
    const auto layer = make_recurrent(cell, {.input = 4, .hidden = 7, .layers = 2});
    pack_weights(*layer, PackedForm::f32);
    RecurrentStart start{.state = randn({2, 3, 7})};
    if (cell == Cell::lstm) start.cell = randn({2, 3, 7});
    const Tensor x = randn({3, 5, 4});
    EXPECT_TRUE(test::same_bits(run_steps(*layer, x, start), (*layer)(x, start).output));
    EXPECT_EQ((*layer)(randn({3, 0, 4}), start).output.shape(), (Shape{3, 0, 7}));
  }
}

TEST(Rnn, OneReversedDirectionIsTheSecondOfTwo) {
  const Gru both({.input = 4, .hidden = 7, .bidirectional = true});
  Gru reversed({.input = 4, .hidden = 7, .reverse = true});
  reversed.weights[0] = both.weights[1];
  const Tensor x = randn({3, 5, 4});
  const Tensor lengths = from_values<std::int64_t>({5, 2, 3}, {3});
  const RecurrentResult two = both(x, {.lengths = lengths});
  const RecurrentResult one = reversed(x, {.lengths = lengths});
  EXPECT_TRUE(test::same_bits(one.output, slice(two.output, 2, 7, 14)));
  EXPECT_TRUE(test::same_bits(select(one.state, 0, 0), select(two.state, 0, 1)));
  EXPECT_EQ(
      error_message([] { Gru({.input = 4, .hidden = 7, .bidirectional = true, .reverse = true}); }),
      "[gru] reverse and bidirectional: two directions read both ways; leave one out");
}

}  // namespace
}  // namespace heed::rnn_test
