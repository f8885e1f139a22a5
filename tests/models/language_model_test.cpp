// The language model compared with a GPT as nanoGPT builds it, with every mechanism and position
// code that fits, step by step, and the messages for wrong configs.
#include "heed/models/language_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/io/config.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/linear_cross_entropy.h"
#include "tests/models/golden_model.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::language_model_test {
namespace {

using test::random_ids;
using test::row_of;
using test::same_bits;
using testing::HasSubstr;

LanguageModelConfig small() {
  LanguageModelConfig config{.vocabulary = test::kVocabulary, .layers = 2};
  config.block.embed = test::kEmbed;
  config.block.heads = test::kHeads;
  config.block.hidden = test::kHidden;
  return config;
}

Tensor loss_of(const LanguageModel& model, const Tensor& ids) {
  return linear_cross_entropy(model(ids), model.output.weight.data, random_ids(3, 8, 9)).loss;
}

// nanoGPT's names of parameters and heed's.
const std::vector<Rename> kFromNanoGpt = {{"transformer.wte", "tokens.tokens"},
                                          {"transformer.wpe", "tokens.position"},
                                          {"transformer.h", "decoder.layers"},
                                          {"transformer.ln_f", "decoder.norm"},
                                          {"lm_head", "output"},
                                          {"ln_1", "norm1"},
                                          {"ln_2", "norm2"},
                                          {"attn.c_attn.weight", "self_attn.in_proj_weight"},
                                          {"attn.c_proj", "self_attn.out_proj"},
                                          {"mlp.c_fc", "linear1"},
                                          {"mlp.c_proj", "linear2"}};

TEST(LanguageModel, Golden) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    LanguageModelConfig config{.vocabulary = 11, .layers = 2};
    config.block.embed = 8;
    config.block.heads = 2;
    config.block.positions = "learned max_length=8";
    LanguageModel model(config);
    const auto scores = [&](const test::GoldenModel::Input& in) {
      return model.output(model(in("ids")));
    };
    test::check_golden_model(
        model, {.name = "language_model", .rename = kFromNanoGpt, .scores = scores}, dtype);
  }
}

// ---- the registry -------------------------------------------------------------------------------

void check_model(const LanguageModelConfig& config, const Mechanism& mechanism) {
  Generator generator(11);
  LanguageModel model(config, generator);
  const Tensor ids = random_ids(3, 8, 1);
  test::expect_learns(model, loss_of(model, ids), [&](const std::string& name) {
    const std::size_t at = name.find(".self_attn.");
    if (at == name.npos) return false;
    return mechanism.traits.gradient == Gradient::none ||
           !test::affects_result(mechanism, name.substr(at + 11));
  });
  model.eval();
  const NoGrad no_grad;
  const Tensor whole = model(ids);
  const Tensor beside = model(test::with_other_tokens(ids, 0, 0));
  for (const std::int64_t b : {1, 2}) {
    EXPECT_TRUE(same_bits(row_of(beside, b), row_of(whole, b))) << "row " << b;
  }
  const auto until = [](const Tensor& x, std::int64_t end) {
    return clone_data(view::slice(row_of(x, 1), 0, 0, end));
  };
  const Tensor later = model(test::with_other_tokens(ids, 1, 5));
  EXPECT_LE(test::max_relative_error(until(later, 5), until(whole, 5)), 2e-6) << "later tokens";
  EXPECT_GT(test::max_relative_error(until(later, 6), until(whole, 6)), 1e-3);
  if (mechanism.traits.decodes) test::expect_steps_give(*model.start(3), ids, whole);
}

TEST(LanguageModel, EveryMechanismThatFitsWorks) {
  for (const Mechanism& mechanism : mechanisms()) {
    SCOPED_TRACE(mechanism.name);
    LanguageModelConfig config = small();
    config.block.attention = test::text_of(mechanism);
    if (!config.block.attention.takes("heads"))
      config.block.heads = LanguageModelConfig{}.block.heads;
    if (test::fits_self_attention(mechanism.traits) && mechanism.traits.causal) {
      check_model(config, mechanism);
    } else {
      const bool maps = test::fits_self_attention(mechanism.traits);
      EXPECT_THAT(error_message([&] { config.validate(); }),
                  HasSubstr(maps ? "it attends to later positions"
                                 : "a mechanism that maps a sequence to a sequence"));
    }
  }
}

TEST(LanguageModel, EveryPositionCodeWorks) {
  for (const PositionKind& kind : positions()) {
    SCOPED_TRACE(kind.name);
    LanguageModelConfig config = small();
    config.block.positions = kind.name;
    check_model(config, find_mechanism("multi_head"));
  }
}

// ---- ties, numbers, threads ---------------------------------------------------------------------

TEST(LanguageModel, TiesAreOneTensorSavedOnce) {
  for (const bool tied : {true, false}) {
    LanguageModelConfig config = small();
    config.tied = tied;
    LanguageModel model(config), other(config);
    model.clone_parameters();
    EXPECT_EQ(model.output.weight.data.storage()->data() ==
                  model.tokens.tokens.weight.data.storage()->data(),
              tied);
    const TempDir dir;
    save_parameters(model, dir / "model.safetensors");
    const auto file = io::SafetensorsFile::open(dir / "model.safetensors");
    EXPECT_EQ(std::ranges::any_of(file.entries(),
                                  [](const auto& entry) { return entry.name == "output.weight"; }),
              !tied);
    load_parameters(other, dir / "model.safetensors");
    const Tensor ids = random_ids(3, 8, 1);
    EXPECT_TRUE(same_bits(model.output(model(ids)), other.output(other(ids))));
  }
}

TEST(LanguageModel, StartsAsGpt2Does) {
  LanguageModelConfig config = small();
  config.block.embed = 64;
  config.layers = 8;
  config.block.hidden = 0;
  config.block.bias = true;
  const LanguageModel model(config);
  const auto deviation = [](const Tensor& x) {
    double sum = 0.0;
    for (const float value : x.to_vector<float>()) sum += static_cast<double>(value) * value;
    return std::sqrt(sum / static_cast<double>(x.numel()));
  };
  const TransformerLayer& layer = model.decoder.layers[3];
  EXPECT_EQ(to_string(layer.feed_forward.plain->linear1.weight.data.shape()), "[256, 64]");
  EXPECT_NEAR(deviation(layer.feed_forward.plain->linear1.weight.data), 0.02, 1e-3);
  EXPECT_NEAR(deviation(layer.feed_forward.plain->linear2.weight.data), 0.02 / 4.0, 3e-4);
  EXPECT_EQ(deviation(layer.feed_forward.plain->linear1.bias), 0.0);
  EXPECT_NEAR(deviation(model.tokens.tokens.weight.data), 0.02, 3e-3);
}

TEST(LanguageModel, BitsDoNotDependOnTheNumberOfThreads) {
  LanguageModelConfig config = small();
  config.block.dropout = 0.3;
  LanguageModel model(config);
  const Tensor ids = random_ids(3, 8, 1);
  test::expect_same_bits_with_any_threads(model, [&] { return loss_of(model, ids); });
}

TEST(LanguageModel, DropsOnlyWhileTraining) {
  LanguageModelConfig config = small();
  config.block.dropout = 0.3;
  LanguageModel model(config);
  const Tensor ids = random_ids(3, 8, 1);
  EXPECT_FALSE(same_bits(model(ids), model(ids)));
  model.eval();
  EXPECT_TRUE(same_bits(model(ids), model(ids)));
}

TEST(LanguageModel, ShowsWhatPositionsAttendTo) {
  const LanguageModel model(small());
  std::vector<LayerWeights> seen;
  model(random_ids(3, 8, 1), &seen);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(to_string(seen[1].self.shape()), "[3, 2, 8, 8]");
  EXPECT_EQ(seen[1].self.data<float>()[1], 0.0f) << "the first position attends only to itself";
}

// ---- configs ------------------------------------------------------------------------------------

TEST(LanguageModel, WrongUseSaysWhatIsWrong) {
  const auto complaint = [](std::initializer_list<std::string> fields) {
    LanguageModelConfig config = small();
    return error_message([&] {
      io::set_fields(config, fields);
      LanguageModel model(config);
    });
  };
  EXPECT_EQ(complaint({"attention=multi_haed"}),
            "[config] \"attention=multi_haed\": [attention] there is no mechanism \"multi_haed\": "
            "did you mean "
            "\"multi_head\"?");
  EXPECT_EQ(complaint({"heads=3"}),
            "[config] flags: [block] embed 16 is not a multiple of heads 3: change one of them, or "
            "give head_size");
  EXPECT_EQ(complaint({"vocabulary=0"}), "[language_model] a vocabulary of 0: give its size");
  EXPECT_EQ(complaint({"attention=lsh", "positions=alibi"}),
            "[config] flags: [attention] \"lsh\" takes no position code inside, and \"alibi\" acts "
            "there: choose one that is added to embeddings, such as \"sinusoidal\"");
  LanguageModelConfig config = small();
  config.block.heads = 0;
  EXPECT_EQ(error_message([&] { LanguageModel model(config); }),
            "[block] embed 16 is not a multiple of heads 0: change one of them, or give head_size");
  LanguageModelConfig again;
  io::load_toml(io::to_toml(small()), again);
  EXPECT_EQ(io::to_toml(again), io::to_toml(small()));
}

TEST(LanguageModel, ContextAndPositionsLimitTheLength) {
  LanguageModelConfig config = small();
  config.context = 300;
  EXPECT_EQ(LanguageModel(config).max_length(), 256) << "learned positions";
  config.block.positions = "rope";
  EXPECT_EQ(LanguageModel(config).max_length(), 300);
}

}  // namespace
}  // namespace heed::language_model_test
