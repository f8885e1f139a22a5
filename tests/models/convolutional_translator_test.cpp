// The convolutional translator compared with PyTorch, decoding with windows, and what its results
// depend on.
#include "heed/models/convolutional_translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/io/config.h"
#include "heed/models/kinds.h"
#include "heed/nn/checkpoint_file.h"
#include "tests/models/golden_model.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::convolutional_translator_test {
namespace {

using test::lengths_of;
using test::random_ids;
using test::row_of;
using test::same_bits;
using testing::HasSubstr;

ConvolutionalTranslatorConfig small() {
  return {.source_vocabulary = test::kVocabulary,
          .target_vocabulary = test::kVocabulary,
          .embed = 6,
          .hidden = 5,
          .encoder_layers = 2,
          .decoder_layers = 2,
          .positions = "learned max_length=12",
          .dropout = 0.0};
}

// Rows of 9, 5 and 7 source tokens, and 8 of the target.
struct PairBatch {
  Tensor source = random_ids(3, 9, 1), lengths = lengths_of({9, 5, 7});
  Tensor target = random_ids(3, 8, 2), expected = random_ids(3, 8, 3);
};

Tensor decoded(const ConvolutionalTranslator& model, const PairBatch& batch) {
  return model.decode(batch.target, model.encode(batch.source, batch.lengths));  // [B, T, E]
}

TEST(ConvolutionalTranslator, Golden) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    ConvolutionalTranslatorConfig config = small();
    config.padding = 0;
    config.positions = "learned max_length=8";
    ConvolutionalTranslator model(config);
    const auto scores = [&](const test::GoldenModel::Input& in) {
      return model.output(model.decode(in("target"), model.encode(in("source"), in("lengths"))));
    };
    test::check_golden_model(model,
                             {.name = "convolutional",
                              .rename = {{"source", "source.tokens"},
                                         {"target", "target.tokens"},
                                         {"source_positions", "source.position"},
                                         {"target_positions", "target.position"}},
                              .scores = scores,
                              .ignored = 0},
                             dtype);
  }
}

TEST(ConvolutionalTranslator, LearnsAndDecodes) {
  for (const std::int64_t kernel : {1, 3, 5}) {
    for (const bool shared : {false, true}) {
      ConvolutionalTranslatorConfig config = small();
      config.kernel = kernel;
      config.shared_attention = shared;
      config.tied = shared ? Tied::three : Tied::none;
      ConvolutionalTranslator model(config);
      EXPECT_EQ(model.query.size(), shared ? 1u : 2u);
      const PairBatch batch;
      test::expect_learns(model, model.output.loss(decoded(model, batch), batch.expected).loss);
      model.eval();
      const NoGrad no_grad;
      const Tensor whole = decoded(model, batch);
      const Memory memory = model.encode(batch.source, batch.lengths);
      test::expect_steps_give(*model.start(memory), batch.target, whole);
      test::expect_steps_give(*model.start(memory, Stepping::replayed), batch.target, whole);
    }
  }
}

TEST(ConvolutionalTranslator, HasGradients) {
  ConvolutionalTranslator model(small());
  model.to(DType::f64);
  const PairBatch batch;
  const std::vector<Tensor> parameters = model.parameters();
  const GradCheckResult result =
      gradcheck([&](std::span<const Tensor>) { return decoded(model, batch); }, parameters);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(ConvolutionalTranslator, PaddingAndNeighboursDoNotMatter) {
  ConvolutionalTranslator model(small());
  model.eval();
  const NoGrad no_grad;
  const PairBatch batch;
  const Tensor whole = decoded(model, batch);
  PairBatch other = batch;
  other.source = test::with_other_tokens(batch.source, 1, 5);
  EXPECT_TRUE(same_bits(decoded(model, other), whole)) << "tokens after the end of a row";
  other = batch;
  other.source = test::with_other_tokens(batch.source, 0, 0);
  other.target = test::with_other_tokens(batch.target, 0, 0);
  const Tensor beside = decoded(model, other);
  for (const std::int64_t b : {1, 2}) {
    EXPECT_TRUE(same_bits(row_of(beside, b), row_of(whole, b))) << "row " << b;
  }
  EXPECT_FALSE(same_bits(row_of(beside, 0), row_of(whole, 0)));
  other = batch;
  other.target = test::with_other_tokens(batch.target, 0, 4);
  const Tensor later = decoded(model, other);
  const auto first = [](const Tensor& y) { return clone_data(view::slice(row_of(y, 0), 0, 0, 4)); };
  EXPECT_TRUE(same_bits(first(later), first(whole))) << "later tokens of the target";
}

TEST(ConvolutionalTranslator, SameBitsWithAnyThreads) {
  ConvolutionalTranslatorConfig config = small();
  config.dropout = 0.3;
  ConvolutionalTranslator model(config);
  const PairBatch batch;
  test::expect_same_bits_with_any_threads(
      model, [&] { return model.output.loss(decoded(model, batch), batch.expected).loss; });
}

TEST(ConvolutionalTranslator, EveryLayerShowsItsWeights) {
  ConvolutionalTranslator model(small());
  model.eval();
  const NoGrad no_grad;
  const PairBatch batch;
  const Memory memory = model.encode(batch.source, batch.lengths);
  std::vector<LayerWeights> whole, now;
  model.decode(batch.target, memory, &whole);
  ASSERT_EQ(whole.size(), 2u);
  EXPECT_EQ(to_string(whole[1].cross.shape()), to_string(Shape{3, 1, 8, 9}));
  const auto decoding = model.start(memory);
  decoding->observe(now, ObservedWeights::cross);
  decoding->step(clone_data(view::slice(batch.target, 1, 0, 1)));
  ASSERT_EQ(now.size(), 2u);
  EXPECT_LE(
      test::max_relative_error(now[1].cross, clone_data(view::slice(whole[1].cross, 2, 0, 1))),
      1e-5);
}

TEST(ConvolutionalTranslator, IsSavedAndLoadedThroughTheList) {
  const TempDir dir;
  const ConvolutionalTranslator before(small());
  save_parameters(before, dir / "model.safetensors");
  ModelChoice read(*find_model_kind("convolutional"));
  io::load_toml(io::to_toml(before.choice()), read);
  const std::unique_ptr<Model> made = read.make();
  load_parameters(*made, dir / "model.safetensors");
  const auto& after = dynamic_cast<const ConvolutionalTranslator&>(*made);
  EXPECT_EQ(after.max_target(), 12);
  const PairBatch batch;
  EXPECT_TRUE(same_bits(decoded(after, batch), decoded(before, batch)));
}

TEST(ConvolutionalTranslator, WrongConfigsSayWhatIsWrong) {
  const auto complaint = [](std::initializer_list<std::string> fields) {
    ConvolutionalTranslatorConfig config = small();
    return error_message([&] {
      io::set_fields(config, fields);
      ConvolutionalTranslator model(config);
    });
  };
  EXPECT_THAT(complaint({"target_vocabulary=0"}), HasSubstr("give the sizes of both"));
  EXPECT_THAT(complaint({"kernel=4"}), HasSubstr("kernel 4: it must be odd"));
  EXPECT_THAT(complaint({"positions=rope"}), HasSubstr("use \"learned\" or \"sinusoidal\""));
  EXPECT_THAT(complaint({"dropout=1"}), HasSubstr("at least 0 and below 1"));
}

}  // namespace
}  // namespace heed::convolutional_translator_test
