// Decoding with the state of a stack and by running all positions again: both give the whole pass,
// while rows come and go, and both show the weights of each step.
#include "heed/models/stack_decoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/nn/pack_weights.h"
#include "tests/models/transformer_case.h"
#include "tests/support/error_message.h"

namespace heed::stack_decoding_test {
namespace {

using test::TransformerBatch;

struct Case {
  explicit Case(const TransformerConfig& config = test::small_transformer()) : model(config) {
    model.eval();
    const NoGrad no_grad;
    memory = model.encode(batch.source, batch.lengths);
    whole = model.decode(batch.target, memory, &weights);
  }
  std::unique_ptr<Decoding> with_state() const {
    return decode_with_state(model.target, model.decoder,
                             {.batch = 3, .memory = memory.states, .lengths = memory.lengths});
  }
  std::unique_ptr<Decoding> by_replay() const { return decode_by_replay(model, memory); }

  Transformer model;
  TransformerBatch batch;
  Memory memory;
  Tensor whole;                       // [3, 8, E]
  std::vector<LayerWeights> weights;  // of the whole
};

Tensor columns(const Tensor& x, int axis, std::int64_t begin, std::int64_t end) {
  return clone_data(view::slice(x, axis, begin, end));
}

TEST(StackDecoding, StateAndReplayGiveTheWhole) {
  for (const char* const positions : {"sinusoidal", "rope", "shaw"}) {
    SCOPED_TRACE(positions);
    TransformerConfig config = test::small_transformer();
    config.block.positions = positions;
    const Case c(config);
    test::expect_steps_give(*c.with_state(), c.batch.target, c.whole);
    test::expect_steps_give(*c.by_replay(), c.batch.target, c.whole);
  }
}

TEST(StackDecoding, StartChoosesBetweenThem) {
  const Case c;
  for (const Stepping stepping : {Stepping::automatic, Stepping::cached, Stepping::replayed}) {
    test::expect_steps_give(*c.model.start(c.memory, stepping), c.batch.target, c.whole);
  }
}

// Steps of one, three and one token.
void check_observed(const Case& c, Decoding& decoding, ObservedWeights what) {
  std::vector<LayerWeights> seen;
  decoding.observe(seen, what);
  const std::int64_t bounds[] = {0, 1, 4, 5};
  for (std::size_t i = 0; i + 1 < std::size(bounds); ++i) {
    const std::int64_t begin = bounds[i], end = bounds[i + 1];
    const Tensor y = decoding.step(columns(c.batch.target, 1, begin, end));
    EXPECT_LE(test::max_relative_error(y, columns(c.whole, 1, begin, end)), 2e-5)
        << "observing changes nothing";
    ASSERT_EQ(seen.size(), 2u);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const LayerWeights& all = c.weights[layer];
      EXPECT_LE(test::max_relative_error(seen[layer].cross, columns(all.cross, 2, begin, end)),
                1e-5)
          << "cross, tokens from " << begin;
      EXPECT_EQ(seen[layer].self.defined(), what == ObservedWeights::all);
      if (what != ObservedWeights::all) continue;
      const Tensor self = columns(columns(all.self, 2, begin, end), 3, 0, end);
      EXPECT_LE(test::max_relative_error(columns(seen[layer].self, 3, 0, end), self), 1e-5)
          << "self, tokens from " << begin;
    }
  }
}

TEST(StackDecoding, ShowsTheWeightsOfEachStep) {
  const Case c;
  for (const ObservedWeights what : {ObservedWeights::cross, ObservedWeights::all}) {
    check_observed(c, *c.with_state(), what);
    check_observed(c, *c.by_replay(), what);
  }
}

TEST(StackDecoding, ObservesRowsAfterTheyMove) {
  const Case c;
  for (const bool replays : {false, true}) {
    const auto decoding = replays ? c.by_replay() : c.with_state();
    std::vector<LayerWeights> seen;
    decoding->observe(seen, ObservedWeights::all);
    decoding->step(columns(c.batch.target, 1, 0, 1));
    decoding->reorder(std::vector<std::int64_t>{2, 2});
    const Tensor ids = columns(columns(c.batch.target, 1, 1, 2), 0, 2, 3);  // [1, 1]
    const std::int64_t token = *ids.data<std::int64_t>();
    decoding->step(from_values<std::int64_t>({token, token}, {2, 1}));
    const Tensor expected = columns(test::row_of(c.weights[0].cross, 2), 1, 1, 2);  // [H, 1, S]
    for (const std::int64_t row : {0, 1}) {
      EXPECT_LE(test::max_relative_error(test::row_of(seen[0].cross, row), expected), 1e-5);
    }
  }
}

TEST(StackDecoding, CanStopObserving) {
  const Case c;
  for (const bool replays : {false, true}) {
    const auto decoding = replays ? c.by_replay() : c.with_state();
    std::vector<LayerWeights> seen;
    decoding->observe(seen, ObservedWeights::all);
    decoding->observe(seen, ObservedWeights::none);
    decoding->step(columns(c.batch.target, 1, 0, 1));
    for (const LayerWeights& layer : seen) EXPECT_FALSE(layer.cross.defined());
  }
}

// Row 0 decodes alone for two steps, row 1 joins, and row 2 when row 1 has one token. Each must
// have the bits of a decoding without company.
TEST(StackDecoding, SequencesOfDifferentAgesStepTogether) {
  for (const char* const positions :
       {"none", "sinusoidal", "learned max_length=20", "axial max_length=20", "rope",
        "rope scaling=2 scaling_kind=dynamic original_length=4"}) {
    SCOPED_TRACE(positions);
    TransformerConfig config = test::small_transformer();
    config.block.positions = positions;
    Case c(config);
    pack_weights(c.model, PackedForm::f32);
    const NoGrad no_grad;
    const auto start = [&](std::int64_t row) {
      Memory memory = c.model.encode(c.batch.source, c.batch.lengths);
      memory.reorder(std::vector<std::int64_t>{row});
      return c.model.start(memory, Stepping::cached);
    };
    const auto tokens = [&](std::vector<std::int64_t> rows, std::vector<std::int64_t> ages) {
      std::vector<std::int64_t> ids;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ids.push_back(c.batch.target.data<std::int64_t>()[rows[i] * 8 + ages[i]]);
      }
      return from_values(std::span<const std::int64_t>(ids), {std::ssize(ids), 1});
    };
    std::vector<std::vector<Tensor>> alone(3);
    for (const std::int64_t row : {0, 1, 2}) {
      const auto decoding = start(row);
      for (std::int64_t t = 0; t < 8; ++t) {
        alone[static_cast<std::size_t>(row)].push_back(decoding->step(tokens({row}, {t})));
      }
    }
    const auto together = start(0);
    ASSERT_TRUE(together->can_join());
    std::vector<std::int64_t> rows = {0}, ages = {0};
    for (int step = 0; step < 8; ++step) {
      if (step == 2 || step == 3) {
        together->join(*start(step - 1));
        rows.push_back(step - 1);
        ages.push_back(0);
      }
      if (step == 5) {  // the rows change places
        together->reorder(std::vector<std::int64_t>{2, 0, 1});
        rows = {2, 0, 1};
        ages = {ages[2], ages[0], ages[1]};
      }
      const Tensor y = together->step(tokens(rows, ages));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Tensor& expected =
            alone[static_cast<std::size_t>(rows[i])][static_cast<std::size_t>(ages[i])];
        EXPECT_TRUE(test::same_bits(test::row_of(y, static_cast<std::int64_t>(i)),
                                    test::row_of(expected, 0)))
            << "row " << rows[i] << ", position " << ages[i];
        ++ages[i];
      }
    }
  }
}

TEST(StackDecoding, WhatKeepsNoPagesCannotBeJoined) {
  TransformerConfig config = test::small_transformer();
  config.block.positions = "shaw";
  const Case shaw(config), plain;
  for (const auto& decoding : {shaw.with_state(), plain.by_replay()}) {
    EXPECT_FALSE(decoding->can_join());
    EXPECT_THAT(error_message([&] { decoding->join(*decoding); }), testing::HasSubstr("join"));
  }
  const Case other;
  EXPECT_THAT(error_message([&] { plain.with_state()->join(*other.with_state()); }),
              testing::HasSubstr("another model"));
}

TEST(StackDecoding, LeavesNothingOnTheTape) {
  const Case c;
  EXPECT_FALSE(c.with_state()->step(columns(c.batch.target, 1, 0, 1)).tracks_grad());
  EXPECT_FALSE(c.by_replay()->step(columns(c.batch.target, 1, 0, 1)).tracks_grad());
}

TEST(StackDecoding, AMemoryIsReordered) {
  const Case c;
  Memory memory = c.memory;
  memory.reorder(std::vector<std::int64_t>{2, 0});
  EXPECT_TRUE(test::same_bits(test::row_of(memory.states, 0), test::row_of(c.memory.states, 2)));
  EXPECT_THAT(memory.lengths.to_vector<std::int64_t>(), testing::ElementsAre(7, 9));
  Memory without{c.memory.states, {}};
  without.reorder(std::vector<std::int64_t>{1});
  EXPECT_EQ(without.states.size(0), 1);
  EXPECT_FALSE(without.lengths.defined());
}

TEST(StackDecoding, StateNeedsAttentionThatCanStep) {
  for (const Mechanism& mechanism : mechanisms()) {
    if (mechanism.traits.decodes || !test::fits_cross_attention(mechanism.traits)) continue;
    SCOPED_TRACE(mechanism.name);
    TransformerConfig config = test::small_transformer();
    config.block.cross_attention = test::text_of(mechanism);
    const Case c(config);
    EXPECT_THAT(error_message([&] { c.with_state(); }), testing::HasSubstr("step by step"));
    test::expect_steps_give(*c.by_replay(), c.batch.target, c.whole);
  }
}

}  // namespace
}  // namespace heed::stack_decoding_test
