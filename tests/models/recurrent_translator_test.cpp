// The recurrent translator compared with PyTorch, with every mechanism that reads a memory, and
// what its results depend on.
#include "heed/models/recurrent_translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/io/config.h"
#include "heed/models/kinds.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/reduce.h"
#include "tests/models/golden_model.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::recurrent_translator_test {
namespace {

using test::lengths_of;
using test::random_ids;
using test::row_of;
using test::same_bits;
using testing::HasSubstr;

RecurrentTranslatorConfig small(std::optional<AttentionChoice> attention = "bahdanau") {
  return {.source_vocabulary = test::kVocabulary,
          .target_vocabulary = test::kVocabulary,
          .decoder = RecurrentDecoderConfig{
              .embed = 6, .hidden = test::kEmbed, .attention = std::move(attention)}};
}

// Rows of 9, 5 and 7 source tokens, and 8 of the target.
struct PairBatch {
  Tensor source = random_ids(3, 9, 1), lengths = lengths_of({9, 5, 7});
  Tensor target = random_ids(3, 8, 2), expected = random_ids(3, 8, 3);
};

Tensor decoded(const RecurrentTranslator& model, const PairBatch& batch) {
  return model.decode(batch.target, model.encode(batch.source, batch.lengths));  // [B, T, R]
}

// ---- against PyTorch ----------------------------------------------------------------------------

struct Twin {
  const char* name;
  RecurrentTranslatorConfig config;
  std::vector<Rename> rename;  // from PyTorch's names
};

std::vector<Twin> twins() {
  RecurrentTranslatorConfig bahdanau = small();
  bahdanau.padding = 0;
  bahdanau.decoder.hidden = 5;

  RecurrentTranslatorConfig luong = bahdanau;
  luong.bidirectional = false;
  luong.reversed_source = true;
  luong.bridge = Bridge::copy;
  luong.decoder.cell = Cell::lstm;
  luong.decoder.layers = 2;
  luong.decoder.attention = "luong_general";
  luong.decoder.feeding = Feeding::readout;
  luong.decoder.readout = Readout::attentional;

  RecurrentTranslatorConfig plain = bahdanau;
  plain.bidirectional = false;
  plain.bridge = Bridge::copy;
  plain.decoder.attention = {};
  return {{"recurrent_bahdanau",
           bahdanau,
           {{"bridge", "state_bridge.0"},
            {"query", "decoder.attention.query"},
            {"key", "decoder.attention.key"},
            {"v", "decoder.attention.v"},
            {"cell", "decoder.cells"}}},
          {"recurrent_luong",
           luong,
           {{"general", "decoder.attention.weight"},
            {"cell", "decoder.cells"},
            {"combine", "decoder.combine"}}},
          {"recurrent_plain", plain, {{"cell", "decoder.cells"}}}};
}

TEST(RecurrentTranslator, Golden) {
  for (const Twin& twin : twins()) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      RecurrentTranslator model(twin.config);
      const auto scores = [&](const test::GoldenModel::Input& in) {
        return model.output(model.decode(in("target"), model.encode(in("source"), in("lengths"))));
      };
      test::check_golden_model(
          model, {.name = twin.name, .rename = twin.rename, .scores = scores, .ignored = 0}, dtype);
    }
  }
}

// ---- every mechanism ----------------------------------------------------------------------------

void check_model(const RecurrentTranslatorConfig& config,
                 const std::function<bool(const std::string&)>& excused) {
  Generator generator(11);
  RecurrentTranslator model(config, generator);
  const PairBatch batch;
  test::expect_learns(model, model.output.loss(decoded(model, batch), batch.expected).loss,
                      excused);
  model.eval();
  const NoGrad no_grad;
  const Tensor whole = decoded(model, batch);
  const Memory memory = model.encode(batch.source, batch.lengths);
  test::expect_steps_give(*model.start(memory), batch.target, whole);
  test::expect_steps_give(*model.start(memory, Stepping::replayed), batch.target, whole);
  PairBatch other = batch;
  other.source = test::with_other_tokens(batch.source, 0, 0);
  other.target = test::with_other_tokens(batch.target, 0, 0);
  const Tensor beside = decoded(model, other);
  for (const std::int64_t b : {1, 2}) {
    EXPECT_TRUE(same_bits(row_of(beside, b), row_of(whole, b))) << "row " << b;
  }
  EXPECT_FALSE(same_bits(row_of(beside, 0), row_of(whole, 0)));
  other = batch;
  other.source = test::with_other_tokens(batch.source, 1, 5);
  EXPECT_LE(test::max_relative_error(decoded(model, other), whole), 2e-6)
      << "tokens after the end of a row";
}

TEST(RecurrentTranslator, EveryMechanismThatReadsAMemoryWorks) {
  for (const Mechanism& mechanism : mechanisms()) {
    for (const Feeding feeding : {Feeding::context, Feeding::none, Feeding::readout}) {
      SCOPED_TRACE(fmt::format("{} {}", mechanism.name, io::enum_name(feeding)));
      const bool fits = test::fits_cross_attention(mechanism.traits) && mechanism.traits.decodes;
      RecurrentTranslatorConfig config = small(AttentionChoice(test::text_of(mechanism)));
      config.encoder_hidden = test::kEmbed / 2;  // so that dot products fit
      config.decoder.feeding = feeding;
      config.decoder.readout = Readout::attentional;
      if (!fits) {
        EXPECT_THAT(error_message([&] { config.validate(); }),
                    HasSubstr(fmt::format("\"{}", mechanism.name)));
        continue;
      }
      if (feeding != Feeding::none && mechanism.name == "transformer_xl") {  // has its own steps
        EXPECT_THAT(error_message([&] { decoded(RecurrentTranslator(config), PairBatch()); }),
                    HasSubstr("have no gradient: train with feeding = \"none\""));
        continue;
      }
      const std::string prefix = "decoder.attention.";
      check_model(config, [&](const std::string& name) {
        if (!name.starts_with(prefix)) return false;
        return mechanism.traits.gradient == Gradient::none ||
               !test::affects_result(mechanism, name.substr(prefix.size()));
      });
    }
  }
}

TEST(RecurrentTranslator, EveryEncoderAndBridgeWorks) {
  for (const Cell cell : {Cell::gru, Cell::lstm}) {
    for (const bool bidirectional : {true, false}) {
      for (const Bridge bridge : {Bridge::dense, Bridge::copy, Bridge::zero}) {
        RecurrentTranslatorConfig config = small();
        config.decoder.cell = cell;
        config.decoder.layers = 2;
        config.bidirectional = bidirectional;
        config.reversed_source = !bidirectional;
        config.bridge = bridge;
        if (bidirectional) config.encoder_hidden = test::kEmbed / 2;
        check_model(config, nullptr);
      }
    }
  }
}

TEST(RecurrentTranslator, WithoutAttentionTheSourceIsItsFinalState) {
  RecurrentTranslatorConfig config = small(std::nullopt);
  check_model(config, nullptr);
  RecurrentTranslator model(config);
  const PairBatch batch;
  std::vector<LayerWeights> weights(3);
  model.decode(batch.target, model.encode(batch.source, batch.lengths), &weights);
  EXPECT_TRUE(weights.empty());
  EXPECT_TRUE(config.attentions().empty());
}

// ---- what results depend on ---------------------------------------------------------------------

TEST(RecurrentTranslator, SameBitsWithAnyThreads) {
  for (const Feeding feeding : {Feeding::context, Feeding::none}) {
    RecurrentTranslatorConfig config = small();
    config.dropout = 0.3;
    config.decoder.layers = 2;
    config.decoder.feeding = feeding;
    RecurrentTranslator model(config);
    const PairBatch batch;
    test::expect_same_bits_with_any_threads(
        model, [&] { return model.output.loss(decoded(model, batch), batch.expected).loss; });
  }
}

TEST(RecurrentTranslator, AReversedSourceIsReadFromItsEnd) {
  RecurrentTranslatorConfig config = small();
  config.bidirectional = false;
  config.reversed_source = true;
  const RecurrentTranslator model(config);
  const Tensor source = random_ids(1, 5, 1);
  const Memory before = model.encode(source);
  const Memory after = model.encode(test::with_other_tokens(source, 0, 4));  // the last token
  const Memory first = model.encode(from_values<std::int64_t>(
      {(source.to_vector<std::int64_t>()[0] + 1) % test::kVocabulary,
       source.to_vector<std::int64_t>()[1], source.to_vector<std::int64_t>()[2],
       source.to_vector<std::int64_t>()[3], source.to_vector<std::int64_t>()[4]},
      {1, 5}));
  const auto state = [](const Memory& memory, std::int64_t at) {
    return clone_data(view::select(view::select(memory.states, 0, 0), 0, at));
  };
  EXPECT_FALSE(same_bits(state(before, 0), state(after, 0)));
  EXPECT_TRUE(same_bits(state(before, 4), state(first, 4)));
  EXPECT_FALSE(same_bits(state(before, 0), state(first, 0)));
}

TEST(RecurrentTranslator, WeightsOfDecodingAreThoseOfTheWhole) {
  RecurrentTranslator model(small());
  model.eval();
  const NoGrad no_grad;
  const PairBatch batch;
  const Memory memory = model.encode(batch.source, batch.lengths);
  std::vector<LayerWeights> whole, now;
  model.decode(batch.target, memory, &whole);
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_FALSE(whole[0].self.defined());
  const auto decoding = model.start(memory);
  decoding->observe(now, ObservedWeights::all);
  for (std::int64_t t = 0; t < 8; ++t) {
    decoding->step(clone_data(view::slice(batch.target, 1, t, t + 1)));
    ASSERT_EQ(now.size(), 1u);
    EXPECT_LE(test::max_relative_error(now[0].cross,
                                       clone_data(view::slice(whole[0].cross, 2, t, t + 1))),
              1e-5);
  }
}

// ---- configs ------------------------------------------------------------------------------------

TEST(RecurrentTranslator, TiesAreOneTensor) {
  RecurrentTranslatorConfig config = small();
  config.decoder.readout = Readout::maxout;
  for (const Tied tied : {Tied::none, Tied::two, Tied::three, Tied::embeddings}) {
    config.tied = tied;
    const RecurrentTranslator model(config);
    const auto data = [](const Weight& x) { return x.data.storage()->data(); };
    EXPECT_EQ(data(model.output.weight) == data(model.target.weight), !has_own_output(tied));
    EXPECT_EQ(data(model.source.weight) == data(model.target.weight), shares_embeddings(tied));
  }
}

TEST(RecurrentTranslator, InitialValuesLieInTheirRange) {
  RecurrentTranslatorConfig config = small();
  config.init_range = 0.08;
  config.padding = 2;
  const RecurrentTranslator model(config);
  for (const NamedTensor& parameter : model.named_parameters()) {
    for (const float x : parameter.tensor.to_vector<float>()) EXPECT_LE(std::abs(x), 0.08f);
  }
  EXPECT_EQ(sum(square(model.source(from_values<std::int64_t>({2}, {1})))).item(), 0.0);
}

TEST(RecurrentTranslator, IsSavedAndLoadedThroughTheList) {
  const TempDir dir;
  const RecurrentTranslator before(small("local_p score=general"));
  const ModelChoice choice = before.choice();
  EXPECT_EQ(choice.kind().name, "recurrent");
  save_parameters(before, dir / "model.safetensors");
  ModelChoice read(*find_model_kind("recurrent"));
  io::load_toml(io::to_toml(choice), read);
  const std::unique_ptr<Model> made = read.make();
  load_parameters(*made, dir / "model.safetensors");
  const auto& after = dynamic_cast<const RecurrentTranslator&>(*made);
  const PairBatch batch;
  EXPECT_TRUE(same_bits(decoded(after, batch), decoded(before, batch)));
}

TEST(RecurrentTranslator, WrongConfigsSayWhatIsWrong) {
  const auto complaint = [](std::initializer_list<std::string> fields) {
    RecurrentTranslatorConfig config = small();
    return error_message([&] {
      io::set_fields(config, fields);
      RecurrentTranslator model(config);
    });
  };
  EXPECT_THAT(complaint({"source_vocabulary=0"}), HasSubstr("give the sizes of both"));
  EXPECT_THAT(complaint({"reversed_source=true"}), HasSubstr("set bidirectional = false"));
  EXPECT_THAT(complaint({"bridge=copy"}), HasSubstr("set encoder_hidden = 8"));
  EXPECT_THAT(complaint({"tied=two"}), HasSubstr("a readout of 54 features"));
  EXPECT_THAT(complaint({"dropout=1"}), HasSubstr("at least 0 and below 1"));
  EXPECT_THAT(complaint({"attention=bahdano"}), HasSubstr("did you mean \"bahdanau\"?"));
}

}  // namespace
}  // namespace heed::recurrent_translator_test
