// Reformer of an encoder and a decoder: the ways to treat activations, padding, step by step,
// weights, saving, and messages for wrong configs.
#include "heed/models/reformer_translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "heed/autograd/tape.h"
#include "heed/io/config.h"
#include "heed/models/kinds.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/join.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::reformer_translator_test {
namespace {

using test::lengths_of;
using test::max_relative_error;
using test::random_ids;
using test::row_of;
using test::same_bits;
using testing::HasSubstr;

// Three layers on each side: in the decoder an odd number of parts for an odd number of layers.
ReformerTranslatorConfig small() {
  return {.source_vocabulary = test::kVocabulary,
          .target_vocabulary = test::kVocabulary,
          .encoder_layers = "lsh local full",
          .decoder_layers = "local lsh full",
          .block = ReformerBlock{
              .embed = 16,
              .heads = 2,
              .hidden = 24,
              .lsh = "lsh buckets=4 chunk=4 rounds=2 evaluation_rounds=3 redraw=true unique=true",
              .local = "block_sparse block=4 local=1 every=0",
              .positions = "axial max_length=40 rows=5 row_features=6",
              .feed_forward_rows = 5}};
}

// Rows of 21, 12 and 17 source tokens, and 18 of the target.
struct Batch {
  Tensor source = random_ids(3, 21, 1), lengths = lengths_of({21, 12, 17});
  Tensor target = random_ids(3, 18, 2), expected = random_ids(3, 18, 3);
};

Tensor decoded(const ReformerTranslator& model, const Batch& batch) {
  return model.decode(batch.target, model.encode(batch.source, batch.lengths));  // [B, T, E]
}

Tensor loss_of(const ReformerTranslator& model, const Batch& batch) {
  return model.output.loss(decoded(model, batch), batch.expected).loss;
}

// ---- activations --------------------------------------------------------------------------------

// The loss and the gradients of all parameters, those of the encoder among them.
std::vector<Tensor> gradients(Activations activations, double dropout) {
  ReformerTranslatorConfig config = small();
  config.block.activations = activations;
  config.block.dropout = dropout;
  config.block.attention_dropout = dropout;
  Generator generator(1);
  const ReformerTranslator model(config, generator);
  default_generator() = Generator(2);
  const Tensor loss = loss_of(model, {});
  loss.backward();
  std::vector<Tensor> all = {loss.detach()};
  for (const Tensor& parameter : model.parameters()) all.push_back(parameter.grad());
  return all;
}

TEST(ReformerTranslator, ActivationsAreKeptOrComputedAgain) {
  for (const double dropout : {0.0, 0.2}) {
    const std::vector<Tensor> kept = gradients(Activations::kept, dropout);
    const std::vector<Tensor> again = gradients(Activations::checkpointed, dropout);
    const std::vector<Tensor> back = gradients(Activations::reversible, dropout);
    EXPECT_TRUE(same_bits(back[0], kept[0]) && same_bits(again[0], kept[0]));
    for (std::size_t i = 1; i < kept.size(); ++i) {
      // The gradient of the memory is summed in another order.
      EXPECT_LT(max_relative_error(again[i], kept[i]), 2e-5) << i;
      EXPECT_LT(max_relative_error(back[i], kept[i]), 2e-5) << i;
    }
  }
}

TEST(ReformerTranslator, EveryParameterLearns) {
  for (const Tied tied : {Tied::none, Tied::two, Tied::three, Tied::embeddings}) {
    ReformerTranslatorConfig config = small();
    config.tied = tied;
    const ReformerTranslator model(config);
    test::expect_learns(model, loss_of(model, {}));
    EXPECT_EQ(model.output.weight.data.storage() == model.target.tokens.weight.data.storage(),
              !has_own_output(tied));
    EXPECT_EQ(
        model.source.tokens.weight.data.storage() == model.target.tokens.weight.data.storage(),
        shares_embeddings(tied));
  }
}

TEST(ReformerTranslator, BitsDoNotDependOnTheNumberOfThreads) {
  ReformerTranslatorConfig config = small();
  config.block.dropout = 0.2;
  ReformerTranslator model(config);
  test::expect_same_bits_with_any_threads(model, [&] { return loss_of(model, {}); });
}

// ---- what a result depends on -------------------------------------------------------------------

TEST(ReformerTranslator, PaddingOfTheSourceChangesNothing) {
  for (const char* const layers : {"lsh", "local", "lsh local full"}) {
    ReformerTranslatorConfig config = small();
    config.encoder_layers = layers;
    ReformerTranslator model(config);
    model.eval();
    const NoGrad no_grad;
    const Batch batch;
    const Tensor y = decoded(model, batch);
    Batch other = batch;
    other.source = test::with_other_tokens(batch.source, 1, 12);
    EXPECT_TRUE(same_bits(decoded(model, other), y)) << layers << ": other tokens as padding";
    other.source = concat({batch.source, random_ids(3, 9, 8)}, 1);
    EXPECT_LE(max_relative_error(decoded(model, other), y), 1e-5) << layers << ": more padding";
    const Memory alone = model.encode(slice(slice(batch.source, 0, 1, 2), 1, 0, 12));
    EXPECT_LE(
        max_relative_error(model.decode(slice(batch.target, 0, 1, 2), alone), slice(y, 0, 1, 2)),
        1e-5)
        << layers << ": a row alone";
    other = batch;
    other.source = test::with_other_tokens(batch.source, 1, 11);
    EXPECT_FALSE(same_bits(row_of(decoded(model, other), 1), row_of(y, 1))) << "a valid token";
  }
}

TEST(ReformerTranslator, TheFutureIsHidden) {
  ReformerTranslator model(small());
  model.eval();
  const NoGrad no_grad;
  const Batch batch;
  const Memory memory = model.encode(batch.source, batch.lengths);
  const Tensor whole = model.decode(batch.target, memory);
  for (const std::int64_t T : {1, 7, 17}) {
    EXPECT_LE(max_relative_error(model.decode(slice(batch.target, 1, 0, T), memory),
                                 slice(whole, 1, 0, T)),
              1e-4)
        << T;
  }
}

// ---- decoding -----------------------------------------------------------------------------------

TEST(ReformerTranslator, StepsAreTheWholeDecode) {
  ReformerTranslator model(small());
  model.eval();
  const NoGrad no_grad;
  const Batch batch;
  const Memory memory = model.encode(batch.source, batch.lengths);
  const Tensor whole = model.decode(batch.target, memory);
  EXPECT_TRUE(model.can_step());
  EXPECT_GT(model.cache_bytes(21, 18, CacheForm::f32), model.cache_bytes(5, 18, CacheForm::f32));
  for (const Stepping stepping : {Stepping::automatic, Stepping::cached, Stepping::replayed}) {
    test::expect_steps_give(*model.start(memory, stepping), batch.target, whole, 1e-4);
  }
}

TEST(ReformerTranslator, ShowsWhatPositionsAttendTo) {
  ReformerTranslator model(small());
  model.eval();
  const NoGrad no_grad;
  const Batch batch;
  ModelWeights seen;
  const Memory memory = model.encode(batch.source, batch.lengths, &seen.encoder);
  const Tensor y = model.decode(batch.target, memory, &seen.decoder);
  EXPECT_TRUE(same_bits(y, decoded(model, batch))) << "observing changes nothing";
  ASSERT_EQ(seen.encoder.size(), 3U);
  ASSERT_EQ(seen.decoder.size(), 3U);
  std::vector<LayerWeights> stepped;
  const auto decoding = model.start(memory);
  decoding->observe(stepped, ObservedWeights::all);
  decoding->step(batch.target);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(seen.encoder[i].cross.defined());
    EXPECT_EQ(seen.encoder[i].self.shape(), (Shape{3, 2, 21, 21})) << i;
    EXPECT_EQ(seen.decoder[i].self.shape(), (Shape{3, 2, 18, 18})) << i;
    ASSERT_EQ(seen.decoder[i].cross.shape(), (Shape{3, 2, 18, 21})) << i;
    EXPECT_EQ(sum(slice(slice(seen.decoder[i].cross, 0, 1, 2), 3, 12, 21)).item(), 0.0) << i;
    EXPECT_LE(max_relative_error(stepped[i].cross, seen.decoder[i].cross), 1e-4) << i;
  }
}

// ---- configs ------------------------------------------------------------------------------------

TEST(ReformerTranslator, IsMadeAgainFromItsChoice) {
  const ModelKind* const kind = find_model_kind("reformer_translator");
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->task, Task::translate);
  ReformerTranslator model(small());
  EXPECT_EQ(model.max_source(), 40);
  EXPECT_EQ(model.max_target(), 40);
  EXPECT_EQ(model.choice().config().attentions().size(), 7U);
  const TempDir dir;
  save_parameters(model, dir / "model.safetensors");
  ModelChoice read(*kind);
  io::load_toml(io::to_toml(model.choice()), read);
  const std::unique_ptr<Model> made = read.make();
  load_parameters(*made, dir / "model.safetensors");
  auto& again = dynamic_cast<ReformerTranslator&>(*made);
  model.eval(), again.eval();
  EXPECT_TRUE(same_bits(decoded(again, {}), decoded(model, {})));
}

std::string complaint(std::initializer_list<std::string> fields) {
  return error_message([&] {
    ReformerTranslatorConfig config = small();
    io::set_fields(config, fields);
    ReformerTranslator model(config);
  });
}

TEST(ReformerTranslator, WrongConfigsSayWhatIsWrong) {
  EXPECT_EQ(complaint({"encoder_layers=lsh locla"}),
            "[config] flags: [reformer_translator] encoder_layers has the word \"locla\": did you "
            "mean \"local\"?");
  EXPECT_EQ(complaint({"decoder_layers="}),
            "[config] flags: [reformer_translator] decoder_layers has 0 words: give one for each "
            "layer, such as \"lsh local\"");
  EXPECT_EQ(complaint({"embed=15"}),
            "[config] flags: [block] embed 15 is not a multiple of heads 2: change one of them, or "
            "give head_size");
  EXPECT_THAT(complaint({"lsh=lsh buckets=3"}), HasSubstr("it must be even, or 1"));
  EXPECT_THAT(complaint({"cross_attention=lsh"}), HasSubstr("and attends to a memory"));
  EXPECT_THAT(complaint({"target_vocabulary=12"}),
              HasSubstr("tied = \"three\" with vocabularies of 11 and 12"));
  EXPECT_EQ(complaint({"target_vocabulary=0"}),
            "[reformer_translator] vocabularies of 11 and 0: give the sizes of both");
}

TEST(ReformerTranslator, TextsThatAreTooLongSaySo) {
  ReformerTranslator model(small());
  EXPECT_THAT(error_message([&] { model.encode(random_ids(1, 41, 1)); }), HasSubstr("[axial]"));
  const Memory memory = model.encode(random_ids(1, 40, 1));
  EXPECT_THAT(error_message([&] { model.decode(random_ids(1, 41, 1), memory); }),
              HasSubstr("[axial]"));
}

}  // namespace
}  // namespace heed::reformer_translator_test
