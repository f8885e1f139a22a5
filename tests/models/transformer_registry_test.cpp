// The Transformer with every attention mechanism and every position code of the registries that
// fits: it learns, it decodes, and a row does not depend on the other rows of its batch.
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

// A place for an attention, and what a mechanism must support there.
struct Side {
  const char* name;
  bool (*fits)(const Traits& traits);
  void (*set)(TransformerConfig& config, const std::string& attention);
  std::string stack, part;  // prefix and infix of the names of the attention's parameters
  std::string queries;      // infix of parameters that only its queries depend on, if any
  bool decodes;             // whether the decoder steps through it
};

const Side kSides[] = {
    {"encoder_attention", test::fits_self_attention,
     [](TransformerConfig& config, const std::string& text) { config.encoder_attention = text; },
     "encoder.layers.", ".self_attn.", "", false},
    {"decoder_attention",
     [](const Traits& traits) { return test::fits_self_attention(traits) && traits.causal; },
     [](TransformerConfig& config, const std::string& text) { config.decoder_attention = text; },
     "decoder.layers.", ".self_attn.", "", true},
    {"cross_attention", test::fits_cross_attention,
     [](TransformerConfig& config, const std::string& text) {
       config.block.cross_attention = text;
     },
     "decoder.layers.", ".multihead_attn.", ".norm2.", true}};

// Parameters that need no gradient: those that the layer's result does not depend on, and those
// that act on it only through a sample.
bool is_excused(const Side& side, const Mechanism& mechanism, const std::string& name) {
  if (!name.starts_with(side.stack)) return false;
  const std::size_t at = name.find(side.part);
  const bool sampled = mechanism.traits.gradient == Gradient::none;
  if (at == name.npos) {
    return sampled && !side.queries.empty() && name.find(side.queries) != name.npos;
  }
  return sampled || !test::affects_result(mechanism, name.substr(at + side.part.size()));
}

TransformerConfig small() {
  TransformerConfig config = test::small_transformer();
  config.block.norm.first = true;
  return config;
}

void check_model(const TransformerConfig& config,
                 const std::function<bool(const std::string&)>& excused) {
  Generator generator(11);
  Transformer model(config, generator);
  const TransformerBatch batch;
  const Tensor y = decoded(model, batch);
  test::expect_learns(model, linear_cross_entropy(y, model.output.weight.data, batch.expected).loss,
                      excused);

  model.eval();
  const NoGrad no_grad;
  const Tensor whole = decoded(model, batch);
  EXPECT_EQ(to_string(whole.shape()), to_string(Shape{3, 8, test::kEmbed}));
  if (model.can_step()) {
    test::expect_steps_give(*model.start(model.encode(batch.source, batch.lengths)), batch.target,
                            whole);
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
  EXPECT_LE(test::max_relative_error(decoded(model, other), whole), 2e-6)
      << "tokens after the end of a row";
}

TEST(TransformerRegistry, EveryMechanismThatFitsASideWorksThere) {
  for (const Side& side : kSides) {
    for (const Mechanism& mechanism : mechanisms()) {
      SCOPED_TRACE(fmt::format("{} {}", side.name, mechanism.name));
      TransformerConfig config = small();
      side.set(config, test::text_of(mechanism));
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
    config.block.positions = kind.name;
    check_model(config, nullptr);
  }
}

TEST(TransformerRegistry, CanStepIfAllOfTheDecoderCan) {
  for (const Side& side : kSides) {
    for (const Mechanism& mechanism : mechanisms()) {
      if (!side.fits(mechanism.traits)) continue;
      TransformerConfig config = small();
      side.set(config, test::text_of(mechanism));
      EXPECT_EQ(Transformer(config).can_step(), !side.decodes || mechanism.traits.decodes)
          << side.name << " " << mechanism.name;
    }
  }
}

}  // namespace
}  // namespace heed::transformer_registry_test
