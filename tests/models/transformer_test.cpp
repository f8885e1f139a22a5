// The Transformer compared with PyTorch's nn.Transformer, its ties, dropouts and configs, and what
// its results depend on. transformer_registry_test.cpp has it with every mechanism and position
// code.
#include "heed/models/transformer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/io/config.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/linear_cross_entropy.h"
#include "heed/ops/reduce.h"
#include "tests/models/golden_model.h"
#include "tests/models/transformer_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using test::decoded;
using test::lengths_of;
using test::random_ids;
using test::row_of;
using test::same_bits;
using test::small_transformer;
using test::TransformerBatch;
using testing::HasSubstr;

Tensor loss_of(const Transformer& model, const TransformerBatch& batch) {
  return linear_cross_entropy(decoded(model, batch), model.output.weight.data, batch.expected,
                              {.label_smoothing = 0.1})
      .loss;
}

// ---- against PyTorch ----------------------------------------------------------------------------

// PyTorch's names of parameters and heed's.
const std::vector<Rename> kFromTorch = {{"transformer.encoder", "encoder"},
                                        {"transformer.decoder", "decoder"},
                                        {"embedding", "source.tokens"},
                                        {"generator", "output"}};

TransformerConfig golden_config(bool norm_first) {
  return {.source_vocabulary = 11,
          .target_vocabulary = 11,
          .padding = 0,
          .encoder_layers = 2,
          .decoder_layers = 2,
          .block = {.embed = 8,
                    .heads = 2,
                    .hidden = 12,
                    .norm = {.first = norm_first, .final = true},
                    .dropout = 0.0},
          .tied = Tied::three};
}

TEST(Transformer, Golden) {
  for (const bool norm_first : {false, true}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      Transformer model(golden_config(norm_first));
      const auto scores = [&](const test::GoldenModel::Input& in) {
        const Memory memory = model.encode(in("source"), in("lengths"));
        return model.output(model.decode(in("target"), memory));
      };
      test::check_golden_model(
          model,
          {.name = norm_first ? "transformer_pre_norm" : "transformer_post_norm",
           .rename = kFromTorch,
           .scores = scores,
           .ignored = 0},
          dtype);
    }
  }
}

TEST(Transformer, LoadsAStateDictOfPyTorch) {
  Transformer model(golden_config(false));
  const auto path = test::golden_path("torch_transformer_state_dict.safetensors");
  const LoadReport report = load_parameters(model, path, {.rename = kFromTorch});
  EXPECT_TRUE(report.missing.empty() && report.unexpected.empty());
  const test::Golden golden = test::load_golden("transformer_post_norm");
  const auto first = [&](const char* name) { return row_of(golden[name], 0); };
  const Tensor y = model.decode(first("target"), model.encode(first("source"), first("lengths")));
  EXPECT_LE(test::max_relative_error(model.output(y), golden.tensors.at("out.scores")), 1e-5);
  EXPECT_THAT(error_message([&] { load_parameters(model, path); }),
              HasSubstr("missing 'encoder.layers.0.self_attn.in_proj_weight'"));
}

// ---- ties ---------------------------------------------------------------------------------------

TEST(Transformer, TiesAreOneTensor) {
  for (const Tied tied : {Tied::none, Tied::two, Tied::three, Tied::embeddings}) {
    TransformerConfig config = small_transformer();
    config.tied = tied;
    Transformer model(config);
    for (const bool cloned : {false, true}) {
      if (cloned) model.clone_parameters();
      const auto data = [](const Tensor& x) { return x.storage()->data(); };
      const Tensor& source = model.source.tokens.weight.data;
      const Tensor& target = model.target.tokens.weight.data;
      EXPECT_EQ(data(model.output.weight.data) == data(target),
                tied == Tied::two || tied == Tied::three);
      EXPECT_EQ(data(source) == data(target), tied == Tied::three || tied == Tied::embeddings);
    }
    std::int64_t matrices = 0;
    for (const NamedTensor& parameter : model.named_parameters()) {
      matrices += parameter.tensor.size(0) == test::kVocabulary;
    }
    EXPECT_EQ(matrices, tied == Tied::none ? 3 : tied == Tied::three ? 1 : 2);
  }
}

TEST(Transformer, TheDecoderMayHaveOtherSizes) {
  TransformerConfig config = small_transformer();
  config.decoder_heads = 1;
  config.decoder_hidden = 7;
  const Transformer model(config);
  EXPECT_EQ(model.config().encoder_block().heads, config.block.heads);
  EXPECT_EQ(model.config().decoder_block().heads, 1);
  EXPECT_EQ(model.encoder.layers[0].feed_forward.plain->linear1.weight.data.size(0),
            config.block.hidden_size());
  EXPECT_EQ(model.decoder.layers[0].feed_forward.plain->linear1.weight.data.size(0), 7);
  std::vector<LayerWeights> weights;
  const Memory memory = model.encode(random_ids(1, 3, 1));
  model.decode(random_ids(1, 2, 2), memory, &weights);
  EXPECT_EQ(weights[0].cross.shape(), (Shape{1, 1, 2, 3}));
  config.decoder_heads = 3;
  EXPECT_THAT(error_message([&] { config.validate(); }), HasSubstr("is not a multiple of heads 3"));
}

TEST(Transformer, ATiedGradientIsTheSumOfAll) {
  TransformerConfig config = small_transformer();
  config.tied = Tied::none;
  Transformer apart(config);
  for (Tensor* const matrix : {&apart.source.tokens.weight.data, &apart.output.weight.data}) {
    copy_into(*matrix, apart.target.tokens.weight.data);
  }
  config.tied = Tied::three;
  Transformer tied(config);
  const TempDir dir;
  save_parameters(apart, dir / "apart.safetensors");
  load_parameters(tied, dir / "apart.safetensors");
  const TransformerBatch batch;
  const Tensor loss = loss_of(apart, batch);
  EXPECT_TRUE(same_bits(loss, loss_of(tied, batch)));
  loss.backward();
  loss_of(tied, batch).backward();
  const Tensor total = apart.source.tokens.weight.data.grad() +
                       apart.target.tokens.weight.data.grad() + apart.output.weight.data.grad();
  EXPECT_LE(test::max_relative_error(tied.output.weight.data.grad(), total), 1e-6);
  EXPECT_FALSE(same_bits(tied.output.weight.data.grad(), apart.output.weight.data.grad()));
}

TEST(Transformer, TiedParametersAreSavedOnceAndLoadedBack) {
  const TempDir dir;
  const auto path = dir / "model.safetensors";
  Transformer model(small_transformer()), other(small_transformer());
  save_parameters(model, path);
  std::int64_t matrices = 0;
  const io::SafetensorsFile file = io::SafetensorsFile::open(path);
  for (const io::SafetensorsEntry& entry : file.entries()) {
    matrices += entry.shape.rank() == 2 && entry.shape[0] == test::kVocabulary;
  }
  EXPECT_EQ(matrices, 1);
  const TransformerBatch batch;
  EXPECT_FALSE(same_bits(decoded(other, batch), decoded(model, batch)));
  load_parameters(other, path);
  EXPECT_TRUE(same_bits(decoded(other, batch), decoded(model, batch)));
  EXPECT_EQ(other.output.weight.data.storage()->data(),
            other.source.tokens.weight.data.storage()->data());
}

// ---- what a result depends on -------------------------------------------------------------------

TEST(Transformer, RowsDoNotDependOnTheirNeighbours) {
  const Transformer model(small_transformer());
  const TransformerBatch batch;
  const Tensor y = decoded(model, batch);
  TransformerBatch other = batch;
  other.source = test::with_other_tokens(batch.source, 0, 0);
  other.target = test::with_other_tokens(batch.target, 0, 0);
  other.lengths = lengths_of({3, 5, 7});
  const Tensor z = decoded(model, other);
  EXPECT_FALSE(same_bits(row_of(z, 0), row_of(y, 0)));
  for (const std::int64_t b : {1, 2}) EXPECT_TRUE(same_bits(row_of(z, b), row_of(y, b))) << b;
}

TEST(Transformer, TokensAfterTheEndOfARowDoNotMatter) {
  const Transformer model(small_transformer());
  const TransformerBatch batch;
  const Tensor y = decoded(model, batch);
  TransformerBatch other = batch;
  other.source = test::with_other_tokens(batch.source, 1, 5);
  EXPECT_TRUE(same_bits(decoded(model, other), y)) << "of the source";
  other = batch;
  other.target = test::with_other_tokens(batch.target, 1, 5);
  const Tensor z = decoded(model, other);
  const auto until = [](const Tensor& x, std::int64_t end) {
    return clone_data(view::slice(row_of(x, 1), 0, 0, end));
  };
  EXPECT_TRUE(same_bits(until(z, 5), until(y, 5))) << "of the target";
  EXPECT_FALSE(same_bits(until(z, 6), until(y, 6)));
  // More columns of padding: products of other sizes may round otherwise.
  other = batch;
  other.source = random_ids(3, 14, 1);
  for (std::int64_t b = 0; b < 3; ++b) {
    Tensor to = view::slice(view::select(other.source, 0, b), 0, 0, 9);
    copy_into(to, view::select(batch.source, 0, b));
  }
  EXPECT_LE(test::max_relative_error(decoded(model, other), y), 2e-6);
}

TEST(Transformer, BitsDoNotDependOnTheNumberOfThreads) {
  TransformerConfig config = small_transformer();
  config.block.dropout = 0.3;
  config.block.activation = FeedForwardKind::swiglu;
  Transformer model(config);
  const TransformerBatch batch;
  test::expect_same_bits_with_any_threads(model, [&] { return loss_of(model, batch); });
}

TEST(Transformer, DoublesAreTheSameModel) {
  Transformer model(small_transformer());
  const TransformerBatch batch;
  const double loss = loss_of(model, batch).item();
  const Tensor y = decoded(model, batch);
  model.to(DType::f64);
  const Tensor exact = decoded(model, batch);
  EXPECT_EQ(exact.dtype(), DType::f64);
  EXPECT_LE(test::max_relative_error(cast_data(y, DType::f64), exact), 1e-5);
  EXPECT_NEAR(loss_of(model, batch).item(), loss, 1e-5);
  test::expect_learns(model, loss_of(model, batch));
  model.eval();
  const NoGrad no_grad;
  test::expect_steps_give(*model.start(model.encode(batch.source, batch.lengths)), batch.target,
                          exact, 1e-12);
}

// ---- dropout ------------------------------------------------------------------------------------

enum class Kind { embeddings_and_sums, weights, inside };

TransformerConfig dropping(Kind kind) {
  TransformerConfig config = small_transformer();
  config.block.dropout = kind == Kind::embeddings_and_sums ? 0.5 : 0.0;
  config.block.attention_dropout = kind == Kind::weights ? 0.5 : 0.0;
  config.block.activation_dropout = kind == Kind::inside ? 0.5 : 0.0;
  return config;
}

void set_to_zero(Transformer& model, std::string_view end) {
  for (NamedTensor& parameter : model.named_parameters()) {
    if (!parameter.name.ends_with(end)) continue;
    copy_into(parameter.tensor, zeros(parameter.tensor.shape()));
  }
}

// A part whose last matrix is 0 adds nothing, so dropout inside it has no effect.
TEST(Transformer, EachKindOfDropoutActsWhereItShould) {
  const TransformerBatch batch;
  for (const Kind kind : {Kind::embeddings_and_sums, Kind::weights, Kind::inside}) {
    const auto drops = [&](Transformer& model) {
      return !same_bits(decoded(model, batch), decoded(model, batch));
    };
    Transformer model(dropping(kind));
    EXPECT_TRUE(drops(model));
    model.eval();
    EXPECT_FALSE(drops(model)) << "in use";
    model.train();
    Transformer no_attention(dropping(kind)), no_network(dropping(kind));
    set_to_zero(no_attention, "out_proj.weight");
    set_to_zero(no_network, "linear2.weight");
    EXPECT_EQ(drops(no_attention), kind != Kind::weights);
    EXPECT_EQ(drops(no_network), kind != Kind::inside);
  }
  Transformer none(small_transformer());
  EXPECT_TRUE(same_bits(decoded(none, batch), decoded(none, batch)));
}

TEST(Transformer, DropoutOfAllKindsIsOneNumberUnlessTold) {
  TransformerConfig config = small_transformer();
  config.block.dropout = 0.5;
  const Transformer model(config);
  const Tensor x = randn({1, 4, test::kEmbed});
  const TransformerLayer& layer = model.encoder.layers[0];
  EXPECT_FALSE(same_bits((*layer.self_attn)({.x = x}), (*layer.self_attn)({.x = x})));
  EXPECT_FALSE(same_bits(layer.feed_forward(x), layer.feed_forward(x)));
}

// ---- weights ------------------------------------------------------------------------------------

TEST(Transformer, ShowsWhatPositionsAttendTo) {
  Transformer model(small_transformer());
  model.eval();
  const TransformerBatch batch;
  ModelWeights seen;
  const Memory memory = model.encode(batch.source, batch.lengths, &seen.encoder);
  const Tensor y = model.decode(batch.target, memory, &seen.decoder);
  EXPECT_TRUE(same_bits(y, decoded(model, batch))) << "observing changes nothing";
  ASSERT_EQ(seen.encoder.size(), 2U);
  ASSERT_EQ(seen.decoder.size(), 2U);
  EXPECT_FALSE(seen.encoder[0].cross.defined());
  const auto check = [](const Tensor& w, const Shape& shape, auto hidden) {
    ASSERT_EQ(to_string(w.shape()), to_string(shape));
    EXPECT_LE(test::max_relative_error(sum(w, {3}), ones({shape[0], shape[1], shape[2]})), 1e-5);
    for (std::int64_t i = 0; i < w.numel(); ++i) {
      const std::int64_t b = i / (shape[1] * shape[2] * shape[3]), row = i / shape[3] % shape[2];
      if (!hidden(b, row, i % shape[3])) continue;
      EXPECT_EQ(w.data<float>()[i], 0.0f) << b << ", " << row << ", " << i % shape[3];
    }
  };
  const std::vector<std::int64_t> lengths = batch.lengths.to_vector<std::int64_t>();
  const auto padded = [&](std::int64_t b, std::int64_t, std::int64_t column) {
    return column >= lengths[static_cast<std::size_t>(b)];
  };
  const auto ahead = [](std::int64_t, std::int64_t row, std::int64_t column) {
    return column > row;
  };
  for (std::size_t layer = 0; layer < 2; ++layer) {
    check(seen.encoder[layer].self, {3, test::kHeads, 9, 9}, padded);
    check(seen.decoder[layer].self, {3, test::kHeads, 8, 8}, ahead);
    check(seen.decoder[layer].cross, {3, test::kHeads, 8, 9}, padded);
  }
}

// ---- configs ------------------------------------------------------------------------------------

TEST(Transformer, ConfigsComeFromFilesAndFlags) {
  TransformerConfig config;
  io::load_toml(R"(
    source_vocabulary = 11
    target_vocabulary = 13
    padding = 2
    embed = 16
    heads = 2
    hidden = 20
    encoder_layers = 1
    decoder_layers = 3
    activation = "swiglu"
    norm_first = true
    attention_dropout = 0.2
    tied = "two"
    encoder_attention = "restricted left=3 right=3"
    positions = "shaw clip=4"
  )",
                config);
  io::set_fields(config, {"final_norm=false", "decoder-attention=multi_head kv_heads=1",
                          "positions=rope base=500", "activation_dropout=none", "padding=1"});
  const Transformer model(config);
  EXPECT_EQ(model.encoder.layers.size(), 1U);
  EXPECT_EQ(model.decoder.layers.size(), 3U);
  EXPECT_FALSE(model.encoder.norm.has_value());
  EXPECT_TRUE(model.decoder.layers[0].feed_forward.gated.has_value());
  EXPECT_EQ(model.output.weight.out(), 13);
  TransformerConfig again;
  io::load_toml(io::to_toml(config), again);
  EXPECT_EQ(io::to_toml(again), io::to_toml(config));
  io::load_json(io::to_json(config), again);
  EXPECT_EQ(io::to_toml(again), io::to_toml(config));
}

TEST(Transformer, TheFinalNormFollowsTheOthersUnlessTold) {
  TransformerConfig config = small_transformer();
  EXPECT_FALSE(Transformer(config).encoder.norm.has_value());
  config.block.norm.first = true;
  EXPECT_TRUE(Transformer(config).encoder.norm.has_value());
  EXPECT_TRUE(Transformer(config).decoder.norm.has_value());
  config.block.norm.final = false;
  EXPECT_FALSE(Transformer(config).decoder.norm.has_value());
}

std::string complaint(std::initializer_list<std::string> fields) {
  TransformerConfig config = small_transformer();
  return error_message([&] {
    io::set_fields(config, fields);
    Transformer model(config);
  });
}

TEST(Transformer, WrongConfigsSayWhatIsWrong) {
  EXPECT_EQ(complaint({"encoder_attention=restrikted"}),
            "[config] \"encoder_attention=restrikted\": [attention] there is no mechanism "
            "\"restrikted\": did you mean "
            "\"restricted\"?");
  EXPECT_EQ(complaint({"decoder_attention=restricted lfet=3"}),
            "[config] \"decoder_attention=restricted lfet=3\": [attention] \"restricted\" has no "
            "option \"lfet\": did you mean "
            "\"left\"?");
  EXPECT_THAT(complaint({"decoder_attention=restricted left=-3"}), HasSubstr("left is -3"));
  EXPECT_EQ(complaint({"positions=alibbi"}),
            "[config] \"positions=alibbi\": [position] there is no code \"alibbi\": did you mean "
            "\"alibi\"?");
  EXPECT_EQ(complaint({"heads=5"}),
            "[config] flags: [block] embed 16 is not a multiple of heads 5: change one of them, or "
            "give head_size");
  EXPECT_EQ(complaint({"target_vocabulary=12"}),
            "[config] flags: [transformer] tied = \"three\" with vocabularies of 11 and 12: share "
            "one vocabulary, or use tied = \"two\"");
  EXPECT_EQ(complaint({"tied=two", "target_vocabulary=12"}), "(no error)");
  EXPECT_EQ(complaint({"encoder_attention=average", "positions=rope"}),
            "[config] flags: [attention] \"average\" takes no position code inside, and \"rope\" "
            "acts there: choose one that is added to embeddings, such as \"sinusoidal\"");
  EXPECT_EQ(complaint({"source_vocabulary=0", "target_vocabulary=0"}),
            "[transformer] vocabularies of 0 and 0: give the sizes of both");
  TransformerConfig unknown;
  EXPECT_NO_THROW(io::set_fields(unknown, {"source_vocabulary=11"})) << "the other may come later";
  EXPECT_EQ(error_message([&] { Transformer model(unknown); }),
            "[transformer] vocabularies of 11 and 0: give the sizes of both");
  EXPECT_THAT(complaint({"cross_attention=average"}), HasSubstr("and attends to a memory"));
  EXPECT_THAT(complaint({"dropout=1"}), HasSubstr("it must be at least 0 and below 1"));
  TransformerConfig config = small_transformer();
  config.block.heads = 0;
  EXPECT_EQ(error_message([&] { Transformer model(config); }),
            "[block] embed 16 is not a multiple of heads 0: change one of them, or give head_size");
}

}  // namespace
}  // namespace heed
