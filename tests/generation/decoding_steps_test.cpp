// The Transformer step by step: what searches find with caches is what they find by reading
// everything again, for every attention and position code that can do both.
#include "heed/generation/transformer_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/attention/registry.h"
#include "heed/autograd/tape.h"
#include "heed/generation/search.h"
#include "tests/models/transformer_case.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::lengths_of;
using test::random_ids;

TransformerConfig small() {
  TransformerConfig config = test::small_transformer();
  config.encoder_layers = 1;
  config.dropout = 0.1;
  return config;
}

Transformer make(const TransformerConfig& config, std::uint64_t seed) {
  Generator generator(seed);
  Transformer model(config, generator);
  model.eval();
  return model;
}

const Tensor& lengths() {
  static const Tensor all = lengths_of({6, 2, 4});
  return all;
}

std::vector<NBest> found(const Transformer& model, Stepping stepping, std::int64_t beam) {
  const NoGrad no_grad;
  const auto steps = make_steps(model, model.encode(random_ids(3, 6, 1), lengths()), stepping);
  const std::vector<Start> starts = {
      {.source_length = 6}, {.source_length = 2}, {.source_length = 4}};
  const SearchOptions options{.beam_size = beam, .n_best = beam, .max_length = 9};
  return search(*steps, starts, make_plan(options, {}));
}

void expect_same(const Transformer& model, std::int64_t beam) {
  const std::vector<NBest> cached = found(model, Stepping::cached, beam);
  const std::vector<NBest> replayed = found(model, Stepping::replayed, beam);
  ASSERT_EQ(cached.size(), 3u);
  for (std::size_t b = 0; b < cached.size(); ++b) {
    ASSERT_EQ(cached[b].size(), static_cast<std::size_t>(beam));
    ASSERT_EQ(replayed[b].size(), cached[b].size());
    for (std::size_t n = 0; n < cached[b].size(); ++n) {
      EXPECT_EQ(cached[b][n].tokens, replayed[b][n].tokens) << "sentence " << b << ", best " << n;
      EXPECT_NEAR(cached[b][n].score, replayed[b][n].score, 1e-5);
      EXPECT_NEAR(cached[b][n].log_probability, replayed[b][n].log_probability, 1e-4);
    }
  }
}

TEST(TransformerSteps, CachedFindsWhatReplayedDoes) {
  for (const bool norm_first : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      TransformerConfig config = small();
      config.norm_first = norm_first;
      const Transformer model = make(config, seed);
      for (const std::int64_t beam : {1, 3, 5}) {
        SCOPED_TRACE(fmt::format("norm_first {}, seed {}, beam {}", norm_first, seed, beam));
        expect_same(model, beam);
      }
    }
  }
}

TEST(TransformerSteps, WithEveryMechanismThatDecodes) {
  int cases = 0;
  for (const Mechanism& mechanism : mechanisms()) {
    if (!mechanism.traits.decodes) continue;
    const bool inside = test::asks_itself(mechanism.traits) && mechanism.traits.causal;
    for (const bool across : {false, true}) {
      if (across ? !test::asks_memory(mechanism.traits) : !inside) continue;
      SCOPED_TRACE(fmt::format("{} {}", across ? "across" : "inside", mechanism.name));
      TransformerConfig config = small();
      (across ? config.cross_attention : config.decoder_attention) = test::text_of(mechanism);
      expect_same(make(config, 4), 3);
      ++cases;
    }
  }
  EXPECT_GT(cases, 5);
}

TEST(TransformerSteps, WithEveryPositionCode) {
  for (const PositionKind& kind : positions()) {
    SCOPED_TRACE(kind.name);
    TransformerConfig config = small();
    config.positions = std::string(kind.name);
    expect_same(make(config, 5), 3);
  }
}

TEST(TransformerSteps, ReplaysWhatCannotGoStepByStep) {
  for (const Mechanism& mechanism : mechanisms()) {
    if (mechanism.traits.decodes || !test::asks_memory(mechanism.traits)) continue;
    SCOPED_TRACE(mechanism.name);
    TransformerConfig config = small();
    config.cross_attention = test::text_of(mechanism);
    const Transformer model = make(config, 6);
    const auto automatic = found(model, Stepping::automatic, 2);
    const auto replayed = found(model, Stepping::replayed, 2);
    for (std::size_t b = 0; b < 3; ++b) EXPECT_EQ(automatic[b][0].tokens, replayed[b][0].tokens);
    EXPECT_THAT(error_message([&] { found(model, Stepping::cached, 2); }),
                testing::HasSubstr("step by step"));
  }
}

// Rows that go and come back twice are the sequences they were.
TEST(TransformerSteps, ReordersRows) {
  const NoGrad no_grad;
  const Transformer model = make(small(), 7);
  const Memory memory = model.encode(random_ids(3, 6, 1), lengths());
  for (const Stepping stepping : {Stepping::cached, Stepping::replayed}) {
    const auto straight = make_steps(model, memory, stepping);
    const auto turned = make_steps(model, memory, stepping);
    EXPECT_EQ(straight->rows(), 3);
    EXPECT_EQ(straight->vocabulary(), test::kVocabulary);
    straight->step(std::vector<std::int32_t>{1, 1, 1});
    turned->step(std::vector<std::int32_t>{1, 1, 1});
    turned->reorder(std::vector<std::int64_t>{2, 0});
    EXPECT_EQ(turned->rows(), 2);
    const Tensor all = straight->step(std::vector<std::int32_t>{5, 6, 7});  // [3, V]
    const Tensor two = turned->step(std::vector<std::int32_t>{7, 5});       // [2, V]
    EXPECT_LE(test::max_relative_error(test::row_of(two, 0), test::row_of(all, 2)), 1e-5);
    EXPECT_LE(test::max_relative_error(test::row_of(two, 1), test::row_of(all, 0)), 1e-5);
  }
}

}  // namespace
}  // namespace heed
