// The Transformer with every attention mechanism and every position code that go with it, as the
// lists of both have them: it learns, it decodes, and rows do not know their neighbours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/models/transformer.h"
#include "heed/ops/linear_cross_entropy.h"
#include "tests/models/transformer_case.h"
#include "tests/support/error_message.h"

namespace heed::transformer_registry_test {
namespace {

using test::decoded;
using test::lengths_of;
using test::random_ids;
using test::row_of;
using test::TransformerBatch;

// A place for an attention, and what a mechanism must be able to do there.
struct Side {
  const char* name;
  std::string TransformerConfig::*attention;
  bool (*fits)(const Traits& traits);
  std::string stack, part;  // whose parameters are the attention's own
  std::string asks;         // those of what it is asked with and nothing else, if any
};

const Side kSides[] = {
    {"encoder_attention", &TransformerConfig::encoder_attention, test::asks_itself,
     "encoder.layers.", ".self_attn.", ""},
    {"decoder_attention", &TransformerConfig::decoder_attention,
     [](const Traits& traits) { return test::asks_itself(traits) && traits.causal; },
     "decoder.layers.", ".self_attn.", ""},
    {"cross_attention", &TransformerConfig::cross_attention, test::asks_memory, "decoder.layers.",
     ".multihead_attn.", ".norm2."}};

// What need not learn: parameters that serve another purpose than the layer's result, and those
// behind a choice that is drawn.
bool is_excused(const Side& side, const Mechanism& mechanism, const std::string& name) {
  if (!name.starts_with(side.stack)) return false;
  const std::size_t at = name.find(side.part);
  const bool drawn = !mechanism.traits.gradient;
  if (at == name.npos) return drawn && !side.asks.empty() && name.find(side.asks) != name.npos;
  return drawn || !test::has_a_part(mechanism, name.substr(at + side.part.size()));
}

TransformerConfig small() {
  TransformerConfig config = test::small_transformer();
  config.norm_first = true;
  return config;
}

void check_model(const TransformerConfig& config,
                 const std::function<bool(const std::string&)>& excused) {
  Generator generator(11);
  Transformer model(config, generator);
  const TransformerBatch batch;
  const Tensor y = decoded(model, batch);
  test::expect_learns(model, linear_cross_entropy(y, model.output_weight(), batch.expected).loss,
                      excused);

  model.eval();
  const NoGrad no_grad;
  const Tensor whole = decoded(model, batch);
  EXPECT_EQ(to_string(whole.shape()), to_string(Shape{3, 8, test::kEmbed}));
  if (model.can_step()) {
    test::expect_steps_give(model, model.start(model.encode(batch.source, batch.lengths)),
                            batch.target, whole);
  }
  TransformerBatch other = batch;
  other.source = test::with_other_tokens(batch.source, 0, 0);
  other.target = test::with_other_tokens(batch.target, 0, 0);
  const Tensor beside = decoded(model, other);
  for (const std::int64_t b : {1, 2}) {
    EXPECT_TRUE(test::same_bits(row_of(beside, b), row_of(whole, b))) << "row " << b;
  }
  other = batch;
  other.source = test::with_other_tokens(batch.source, 1, 5);
  EXPECT_LE(test::max_relative_error(decoded(model, other), whole), 2e-6) << "behind a row's end";
}

TEST(TransformerRegistry, EveryMechanismThatFitsASideWorksThere) {
  for (const Side& side : kSides) {
    for (const Mechanism& mechanism : mechanisms()) {
      SCOPED_TRACE(fmt::format("{} {}", side.name, mechanism.name));
      TransformerConfig config = small();
      config.*side.attention = test::text_of(mechanism);
      if (!side.fits(mechanism.traits)) {
        EXPECT_THAT(error_message([&] { config.validate(); }),
                    testing::HasSubstr(fmt::format("{} \"{}", side.name, mechanism.name)));
        continue;
      }
      check_model(config,
                  [&](const std::string& name) { return is_excused(side, mechanism, name); });
    }
  }
}

TEST(TransformerRegistry, EveryPositionCodeWorks) {
  for (const PositionKind& kind : positions()) {
    SCOPED_TRACE(kind.name);
    TransformerConfig config = small();
    config.positions = std::string(kind.name);
    check_model(config, nullptr);
  }
}

TEST(TransformerRegistry, CanStepIfAllOfTheDecoderCan) {
  for (const Side& side : kSides) {
    for (const Mechanism& mechanism : mechanisms()) {
      if (!side.fits(mechanism.traits)) continue;
      TransformerConfig config = small();
      config.*side.attention = test::text_of(mechanism);
      const bool asked = side.attention != &TransformerConfig::encoder_attention;
      EXPECT_EQ(Transformer(config).can_step(), !asked || mechanism.traits.decodes)
          << side.name << " " << mechanism.name;
    }
  }
}

}  // namespace
}  // namespace heed::transformer_registry_test
