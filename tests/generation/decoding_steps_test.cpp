// Models step by step: searches with kept keys and values find what they find when every step runs
// all positions again, for every attention and position code; and the weights of a hypothesis.
#include "heed/generation/decoding_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/attention/registry.h"
#include "heed/autograd/tape.h"
#include "heed/generation/examine.h"
#include "heed/generation/search.h"
#include "heed/tensor/padding.h"
#include "tests/generation/tiny_translator.h"
#include "tests/models/transformer_case.h"
#include "tests/support/error_message.h"

namespace heed::decoding_steps_test {
namespace {

using test::lengths_of;
using test::random_ids;

TransformerConfig small() {
  TransformerConfig config = test::small_transformer();
  config.encoder_layers = 1;
  config.block.dropout = 0.1;
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

DecodingSteps steps_of(const Transformer& model, Stepping stepping,
                       ObservedWeights observed = ObservedWeights::none) {
  const Memory memory = model.encode(random_ids(3, 6, 1), lengths());
  return {model.output, 3, model.start(memory, stepping), observed};
}

std::vector<NBest> found(const Transformer& model, Stepping stepping, std::int64_t beam) {
  const NoGrad no_grad;
  DecodingSteps steps = steps_of(model, stepping);
  const std::vector<Start> starts = {
      {.source_length = 6}, {.source_length = 2}, {.source_length = 4}};
  const SearchOptions options{.beam_size = beam, .n_best = beam, .max_length = 9};
  return search(steps, starts, make_plan(options, {}));
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

TEST(DecodingSteps, CachedFindsWhatReplayedDoes) {
  for (const bool norm_first : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      TransformerConfig config = small();
      config.block.norm.first = norm_first;
      const Transformer model = make(config, seed);
      for (const std::int64_t beam : {1, 3, 5}) {
        SCOPED_TRACE(fmt::format("norm_first {}, seed {}, beam {}", norm_first, seed, beam));
        expect_same(model, beam);
      }
    }
  }
}

TEST(DecodingSteps, WithEveryMechanismThatDecodes) {
  int cases = 0;
  for (const Mechanism& mechanism : mechanisms()) {
    if (!mechanism.traits.decodes) continue;
    const bool inside = test::fits_self_attention(mechanism.traits) && mechanism.traits.causal;
    for (const bool across : {false, true}) {
      if (across ? !test::fits_cross_attention(mechanism.traits) : !inside) continue;
      SCOPED_TRACE(fmt::format("{} {}", across ? "across" : "inside", mechanism.name));
      TransformerConfig config = small();
      if (across) {
        config.block.cross_attention = test::text_of(mechanism);
      } else {
        config.decoder_attention = test::text_of(mechanism);
      }
      expect_same(make(config, 4), 3);
      ++cases;
    }
  }
  EXPECT_GT(cases, 5);
}

TEST(DecodingSteps, WithEveryPositionCode) {
  for (const PositionKind& kind : positions()) {
    SCOPED_TRACE(kind.name);
    TransformerConfig config = small();
    config.block.positions = kind.name;
    expect_same(make(config, 5), 3);
  }
}

TEST(DecodingSteps, ReplaysWhatCannotGoStepByStep) {
  for (const Mechanism& mechanism : mechanisms()) {
    if (mechanism.traits.decodes || !test::fits_cross_attention(mechanism.traits)) continue;
    SCOPED_TRACE(mechanism.name);
    TransformerConfig config = small();
    config.block.cross_attention = test::text_of(mechanism);
    const Transformer model = make(config, 6);
    const auto automatic = found(model, Stepping::automatic, 2);
    const auto replayed = found(model, Stepping::replayed, 2);
    for (std::size_t b = 0; b < 3; ++b) EXPECT_EQ(automatic[b][0].tokens, replayed[b][0].tokens);
    EXPECT_THAT(error_message([&] { found(model, Stepping::cached, 2); }),
                testing::HasSubstr("step by step"));
  }
}

// After reorder(), row i continues the sequence that row from[i] was.
TEST(DecodingSteps, ReordersRows) {
  const NoGrad no_grad;
  const Transformer model = make(small(), 7);
  for (const Stepping stepping : {Stepping::cached, Stepping::replayed}) {
    DecodingSteps straight = steps_of(model, stepping);
    DecodingSteps turned = steps_of(model, stepping);
    EXPECT_EQ(straight.rows(), 3);
    EXPECT_EQ(straight.vocabulary(), test::kVocabulary);
    straight.step(std::vector<std::int32_t>{1, 1, 1});
    turned.step(std::vector<std::int32_t>{1, 1, 1});
    turned.reorder(std::vector<std::int64_t>{2, 0});
    EXPECT_EQ(turned.rows(), 2);
    const Tensor all = straight.step(std::vector<std::int32_t>{5, 6, 7}).all();  // [3, V]
    const Tensor two = turned.step(std::vector<std::int32_t>{7, 5}).all();       // [2, V]
    EXPECT_LE(test::max_relative_error(test::row_of(two, 0), test::row_of(all, 2)), 1e-5);
    EXPECT_LE(test::max_relative_error(test::row_of(two, 1), test::row_of(all, 0)), 1e-5);
  }
}

// ---- weights ------------------------------------------------------------------------------------

// Sentences of different lengths, read by a translator of two layers.
struct Observing {
  explicit Observing(const std::string& decoder_attention = "multi_head")
      : translator(make_translator(decoder_attention)) {
    for (const char* const sentence : {"abc", "hgfedcba abc de", "a", "bad cab"}) {
      sources.push_back(translator.read(sentence));
    }
    std::vector<std::span<const std::int32_t>> rows(sources.begin(), sources.end());
    const NoGrad no_grad;
    const PaddedRows batch = pad_rows(rows, translator.source()->special().padding);
    memory = translator.model().encode(batch.tokens, batch.lengths);
  }

  static Translator make_translator(const std::string& decoder_attention) {
    const auto source = test::letters(), target = test::letters("uvwxyz");
    TransformerConfig config = test::tiny_config(source, target);
    config.decoder_layers = 2;
    config.decoder_attention = decoder_attention;
    return test::tiny_translator(config, source, target);
  }

  DecodingSteps steps(Stepping stepping, ObservedWeights observed) const {
    return {translator.model().output_layer(), std::ssize(sources),
            translator.model().start(memory, stepping), observed};
  }
  std::vector<NBest> search_with(DecodingSteps& steps, const SearchOptions& options) const {
    std::vector<Start> starts;
    for (const auto& source : sources) {
      starts.push_back(
          {.token = translator.target()->special().begin, .source_length = std::ssize(source)});
    }
    return search(steps, starts, make_plan(options, translator.target()->special()));
  }

  Translator translator;
  std::vector<std::vector<std::int32_t>> sources;
  Memory memory;
};

// The weights that a search observed for each hypothesis, and those of one pass over its tokens.
void expect_weights_of_one_pass(const Observing& observing, Stepping stepping,
                                const SearchOptions& options) {
  const NoGrad no_grad;
  DecodingSteps steps = observing.steps(stepping, ObservedWeights::all);
  const std::vector<NBest> all = observing.search_with(steps, options);
  ASSERT_EQ(all.size(), observing.sources.size());
  for (std::size_t b = 0; b < all.size(); ++b) {
    const std::vector<std::int32_t>& source = observing.sources[b];
    ASSERT_EQ(std::ssize(all[b]), options.n_best);
    for (const Hypothesis& hypothesis : all[b]) {
      const auto observed = weights_of(hypothesis, std::ssize(source));
      const auto expected =
          examine_weights(observing.translator, {source, hypothesis.tokens}).decoder;
      ASSERT_EQ(observed.size(), 2u);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_LE(test::max_relative_error(observed[i].self, expected[i].self), 1e-5)
            << "self-attention of sentence " << b << ", layer " << i;
        EXPECT_LE(test::max_relative_error(observed[i].cross, expected[i].cross), 1e-5)
            << "cross-attention of sentence " << b << ", layer " << i;
      }
    }
  }
}

TEST(DecodingSteps, WeightsOfAHypothesisAreThoseOfOnePassOverIt) {
  const Observing observing;
  for (const Stepping stepping : {Stepping::cached, Stepping::replayed}) {
    for (const std::int64_t beam : {1, 4}) {
      SCOPED_TRACE(fmt::format("beam {}{}", beam, stepping == Stepping::cached ? ", cached" : ""));
      expect_weights_of_one_pass(
          observing, stepping,
          {.beam_size = beam, .n_best = beam, .min_length = 3, .max_length = 9});
    }
  }
}

// More steps than the cache of a window keeps.
TEST(DecodingSteps, WeightsOfAWindowStayInTheirColumns) {
  expect_weights_of_one_pass(Observing("restricted left=2 right=0"), Stepping::cached,
                             {.beam_size = 2, .n_best = 2, .min_length = 70, .max_length = 72});
}

TEST(DecodingSteps, CrossWeightsAloneAreTheMeanOverHeads) {
  const NoGrad no_grad;
  const Observing observing;
  DecodingSteps steps = observing.steps(Stepping::cached, ObservedWeights::cross);
  const std::vector<NBest> all = observing.search_with(steps, {.min_length = 2, .max_length = 5});
  for (std::size_t b = 0; b < all.size(); ++b) {
    const std::vector<std::int32_t>& source = observing.sources[b];
    const auto observed = weights_of(all[b][0], std::ssize(source));
    const ModelWeights expected = examine_weights(observing.translator, {source, all[b][0].tokens});
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_FALSE(observed[i].self.defined());
      const Tensor mean_of_heads = mean(expected.decoder[i].cross, {1}, {.keep_axes = true});
      EXPECT_LE(test::max_relative_error(observed[i].cross, mean_of_heads), 1e-5);
    }
  }
}

// An attention that keeps no keys has no weights of its steps; the others have theirs.
TEST(DecodingSteps, LeavesOutWhatALayerDoesNotGive) {
  const NoGrad no_grad;
  const Observing observing("average");
  DecodingSteps steps = observing.steps(Stepping::cached, ObservedWeights::all);
  const std::vector<NBest> all = observing.search_with(steps, {.max_length = 5});
  const auto observed = weights_of(all[1][0], std::ssize(observing.sources[1]));
  for (const LayerWeights& layer : observed) {
    EXPECT_FALSE(layer.self.defined());
    EXPECT_TRUE(layer.cross.defined());
  }
}

}  // namespace
}  // namespace heed::decoding_steps_test
