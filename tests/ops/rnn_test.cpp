#include "heed/ops/rnn.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/golden.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_op;

// All outputs of a layer as one row, so that every one of them has a gradient.
Tensor all_of(const RnnResult& r) {
  const Tensor outputs = concat({reshape(r.output, {-1}), reshape(r.state, {-1})}, 0);
  return r.cell.defined() ? concat({outputs, reshape(r.cell, {-1})}, 0) : outputs;
}

std::vector<Shape> shapes(std::int64_t gates, std::int64_t b, std::int64_t t, std::int64_t i,
                          std::int64_t h) {
  return {{b, t, i}, {gates * h, i}, {gates * h, h}, {gates * h}, {gates * h}, {b, h}, {b, h}};
}

TEST(Rnn, GruValuesAndGradients) {
  for (const bool reverse : {false, true}) {
    check_op({.name = "gru",
              .shapes = shapes(3, 2, 3, 5, 3),
              .op =
                  [=](auto in) {
                    return all_of(gru(in[0], {in[1], in[2], in[3], in[4]},
                                      {.initial_state = in[5], .reverse = reverse}));
                  },
              .low = -1,
              .high = 1});
  }
}

TEST(Rnn, LstmValuesAndGradients) {
  for (const bool reverse : {false, true}) {
    check_op({.name = "lstm",
              .shapes = shapes(4, 2, 3, 5, 3),
              .op =
                  [=](auto in) {
                    return all_of(
                        lstm(in[0], {in[1], in[2], in[3], in[4]},
                             {.initial_state = in[5], .initial_cell = in[6], .reverse = reverse}));
                  },
              .low = -1,
              .high = 1});
  }
}

// The states after a step as one row.
Tensor all_of(const RnnStep& step) {
  const Tensor state = reshape(step.state, {-1});
  return step.cell.defined() ? concat({state, reshape(step.cell, {-1})}, 0) : state;
}

TEST(Rnn, StepsHaveGradients) {
  for (const std::int64_t h : {1, 7, 17}) {
    check_op({.name = "gru_step",
              .shapes = {{3, 3 * h}, {3, 3 * h}, {3, h}},
              .op =
                  [](auto in) {
                    return all_of(gru_step({in[0], in[1], in[2]}));
                  },
              .low = -1,
              .high = 1});
    check_op({.name = "lstm_step",
              .shapes = {{3, 4 * h}, {3, 4 * h}, {3, h}, {3, h}},
              .op =
                  [](auto in) {
                    return all_of(lstm_step({in[0], in[1], in[2], in[3]}));
                  },
              .low = -1,
              .high = 1});
  }
}

TEST(Rnn, AStepIsASequenceOfOne) {
  const std::int64_t B = 5, I = 3, H = 17;
  for (const std::int64_t gates : {3, 4}) {
    const RnnWeights w{randn({gates * H, I}), randn({gates * H, H}), randn({gates * H}),
                       randn({gates * H})};
    const Tensor x = randn({B, 1, I}), state = randn({B, H}), cell = randn({B, H});
    const RnnStepInput in{linear(select(x, 1, 0), w.w_ih, {.bias = w.b_ih}),
                          linear(state, w.w_hh, {.bias = w.b_hh}), state, cell};
    const RnnOptions from{.initial_state = state, .initial_cell = cell};
    const RnnStep step = gates == 3 ? gru_step(in) : lstm_step(in);
    const RnnResult whole = gates == 3 ? gru(x, w, from) : lstm(x, w, from);
    EXPECT_LE(test::max_relative_error(step.state, whole.state), 1e-6);
    if (gates == 3) continue;
    EXPECT_LE(test::max_relative_error(step.cell, whole.cell), 1e-6);
  }
}

TEST(Rnn, StepsSayWhatDoesNotFit) {
  const Tensor wide = randn({2, 9}), state = randn({2, 3});
  EXPECT_EQ(
      error_message([&] {
        gru_step({randn({2, 8}), wide, state});
      }),
      "[gru_step] gates [2, 8] and hidden_gates [2, 9]: for state [2, 3] both must be [2, 9]");
  const Tensor four = randn({2, 12});
  EXPECT_EQ(error_message([&] {
              lstm_step({four, four, state});
            }),
            "[lstm_step] cell undefined: it must be [2, 3], as the state");
}

TEST(Rnn, LengthsIncludingEmptySequences) {
  const Tensor lengths = from_values<std::int64_t>({2, 0, 4}, {3});
  for (const bool reverse : {false, true}) {
    check_op({.name = "gru lengths",
              .shapes = shapes(3, 3, 4, 2, 3),
              .op =
                  [=](auto in) {
                    return all_of(
                        gru(in[0], {in[1], in[2], in[3], in[4]},
                            {.initial_state = in[5], .lengths = lengths, .reverse = reverse}));
                  },
              .low = -1,
              .high = 1});
    check_op({.name = "lstm lengths",
              .shapes = shapes(4, 3, 4, 2, 3),
              .op =
                  [=](auto in) {
                    return all_of(lstm(in[0], {in[1], in[2], in[3], in[4]},
                                       {.initial_state = in[5],
                                        .initial_cell = in[6],
                                        .lengths = lengths,
                                        .reverse = reverse}));
                  },
              .low = -1,
              .high = 1});
  }
}

TEST(Rnn, ManySequencesSplitAcrossThreads) {
  check_op({.name = "gru 35 sequences",
            .shapes = shapes(3, 35, 6, 17, 65),
            .op =
                [](auto in) {
                  return all_of(gru(in[0], {in[1], in[2], in[3], in[4]}));
                },
            .low = -0.3,
            .high = 0.3,
            .gradient_tolerance = 1e-4});
}

TEST(Rnn, EmptySizes) {
  EXPECT_EQ(gru(ones({0, 3, 2}), {ones({9, 2}), ones({9, 3})}).output.shape(), Shape({0, 3, 3}));
  EXPECT_EQ(lstm(ones({2, 0, 2}), {ones({12, 2}), ones({12, 3})}).state.shape(), Shape({2, 3}));
}

TEST(Rnn, WhatStandsBehindTheEndDoesNotMatter) {
  const Tensor lengths = from_values<std::int64_t>({2}, {1});
  Tensor x = randn({1, 4, 2});
  const RnnWeights w{randn({9, 2}), randn({9, 3})};
  const RnnResult before = gru(x, w, {.lengths = lengths, .reverse = true});
  for (int i = 4; i < 8; ++i) x.mutable_data<float>()[i] = 1e30f;
  const RnnResult after = gru(x, w, {.lengths = lengths, .reverse = true});
  EXPECT_TRUE(test::same_bits(before.output, after.output));
  EXPECT_TRUE(test::same_bits(before.state, after.state));
}

TEST(Rnn, WrongArgumentsAreNamed) {
  const RnnWeights w{ones({9, 2}), ones({9, 3})};
  EXPECT_EQ(error_message([&] { gru(ones({3, 2}), w); }), "[gru] x [3, 2]: it must be [B, T, I]");
  EXPECT_EQ(error_message([&] {
              gru(ones({1, 3, 4}), w);
            }),
            "[gru] w_ih [9, 2]: it must be [9, 4] for x [1, 3, 4]");
  EXPECT_EQ(error_message([&] {
              lstm(ones({1, 3, 2}), w);
            }),
            "[lstm] w_hh [9, 3]: it must be [4 * H, H]");
  const Tensor lengths = from_values<std::int64_t>({5}, {1});
  EXPECT_EQ(error_message([&] {
              gru(ones({1, 3, 2}), w, {.lengths = lengths});
            }),
            "[gru] lengths[0] is 5: it must be from 0 to T = 3");
}

}  // namespace
}  // namespace heed
