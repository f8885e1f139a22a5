// The classifier compared with one around PyTorch's nn.TransformerEncoder, with every mechanism and
// position code that fits, and texts of any length.
#include "heed/models/classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "heed/ops/cross_entropy.h"
#include "tests/models/golden_model.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::classifier_test {
namespace {

using test::lengths_of;
using test::random_ids;
using test::row_of;
using test::same_bits;
using testing::HasSubstr;

ClassifierConfig small() {
  ClassifierConfig config{.encoder = {.vocabulary = test::kVocabulary}, .classes = 4};
  config.encoder.block.embed = test::kEmbed;
  config.encoder.block.heads = test::kHeads;
  config.encoder.block.hidden = test::kHidden;
  config.encoder.block.dropout = 0.0;
  return config;
}

Tensor loss_of(const Classifier& model, const Tensor& ids) {
  return cross_entropy(model({ids, lengths_of({9, 5, 7})}), lengths_of({0, 3, 1}));
}

TEST(Classifier, Golden) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    ClassifierConfig config{.encoder = {.vocabulary = 11, .layers = 2}, .classes = 4};
    config.encoder.block.embed = 8;
    config.encoder.block.heads = 2;
    config.encoder.block.hidden = 12;
    config.encoder.block.dropout = 0.0;
    Classifier model(config);
    const auto scores = [&](const test::GoldenModel::Input& in) {
      return model({in("ids"), in("lengths")});
    };
    test::check_golden_model(
        model, {.name = "classifier", .rename = {{"embedding", "tokens.tokens"}}, .scores = scores},
        dtype);
  }
}

void check_model(const ClassifierConfig& config, const Mechanism& mechanism) {
  Generator generator(11);
  Classifier model(config, generator);
  const Tensor ids = random_ids(3, 9, 1), lengths = lengths_of({9, 5, 7});
  test::expect_learns(model, loss_of(model, ids), [&](const std::string& name) {
    const std::size_t at = name.find(".self_attn.");
    if (at == name.npos) return false;
    return mechanism.traits.gradient == Gradient::none ||
           !test::affects_result(mechanism, name.substr(at + 11));
  });
  model.eval();
  const Tensor y = model({ids, lengths});
  const Tensor beside = model({test::with_other_tokens(ids, 0, 0), lengths});
  for (const std::int64_t b : {1, 2}) EXPECT_TRUE(same_bits(row_of(beside, b), row_of(y, b))) << b;
  EXPECT_FALSE(same_bits(row_of(beside, 0), row_of(y, 0)));
  const Tensor padded = model({test::with_other_tokens(ids, 1, 5), lengths});
  EXPECT_LE(test::max_relative_error(padded, y), 2e-6) << "tokens after the end of a row";
}

TEST(Classifier, EveryMechanismThatFitsWorks) {
  for (const Mechanism& mechanism : mechanisms()) {
    SCOPED_TRACE(mechanism.name);
    ClassifierConfig config = small();
    config.encoder.block.attention = test::text_of(mechanism);
    if (!config.encoder.block.attention.takes("heads"))
      config.encoder.block.heads = ClassifierConfig{}.encoder.block.heads;
    if (test::fits_self_attention(mechanism.traits)) {
      check_model(config, mechanism);
    } else {
      EXPECT_THAT(error_message([&] { config.validate(); }),
                  HasSubstr("a mechanism that maps a sequence to a sequence"));
    }
  }
}

TEST(Classifier, EveryPositionCodeWorks) {
  for (const PositionKind& kind : positions()) {
    SCOPED_TRACE(kind.name);
    ClassifierConfig config = small();
    config.encoder.block.positions = kind.name;
    check_model(config, find_mechanism("multi_head"));
  }
}

TEST(Classifier, TextsHaveAnyLength) {
  Classifier model(small());
  model.eval();
  const Tensor ids = random_ids(3, 9, 1);
  EXPECT_TRUE(same_bits(model({ids, lengths_of({9, 9, 9})}), model({ids}))) << "all of T";
  const Tensor one = model({ids, lengths_of({0, 1, 4})});
  EXPECT_LE(test::max_relative_error(row_of(one, 0), model.scores.bias), 0.0) << "an empty text";
  const Tensor alone = clone_data(view::slice(view::slice(ids, 0, 2, 3), 1, 0, 4));  // [1, 4]
  EXPECT_LE(test::max_relative_error(row_of(model({alone}), 0), row_of(one, 2)), 2e-6);
  EXPECT_THAT(error_message([&] { model({ids, lengths_of({10, 1, 1})}); }), HasSubstr("10"));
}

TEST(Classifier, BitsDoNotDependOnTheNumberOfThreads) {
  ClassifierConfig config = small();
  config.encoder.block.dropout = 0.3;
  Classifier model(config);
  const Tensor ids = random_ids(3, 9, 1);
  test::expect_same_bits_with_any_threads(model, [&] { return loss_of(model, ids); });
}

TEST(Classifier, AHeadIsADenseLayerOfThePooledState) {
  ClassifierConfig config = small();
  config.pooling = Pooling::first;
  config.head = Activation::tanh;
  Classifier model(config);
  const TextBatch batch{random_ids(3, 9, 1), lengths_of({9, 5, 7})};
  test::expect_learns(model, cross_entropy(model(batch), lengths_of({0, 3, 1})));
  model.eval();
  const Tensor first = pool(model.text(batch), batch.lengths, Pooling::first);
  const Tensor dense = model.dense->weight.product(first, {.bias = model.dense->bias});
  EXPECT_LE(test::max_relative_error(model(batch), model.scores(activate(Activation::tanh, dense))),
            1e-6);
  EXPECT_FALSE(Classifier(small()).dense);
}

// Configs and parameters of folders that earlier versions have written.
TEST(Classifier, KeepsTheNamesOfItsParameters) {
  std::vector<std::string> names;
  ClassifierConfig config = small();
  config.encoder.layers = 1;
  for (const auto& parameter : Classifier(config).named_parameters()) {
    if (!parameter.name.starts_with("encoder.layers.0.")) names.push_back(parameter.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("tokens.tokens.weight", "encoder.norm.weight",
                                          "encoder.norm.bias", "scores.weight", "scores.bias"));
}

TEST(Classifier, ShowsWhatPositionsAttendTo) {
  const Classifier model(small());
  std::vector<LayerWeights> seen;
  model({random_ids(3, 9, 1), lengths_of({9, 5, 7})}, &seen);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(to_string(seen[0].self.shape()), "[3, 2, 9, 9]");
}

TEST(Classifier, WrongConfigsSayWhatIsWrong) {
  const auto complaint = [](std::initializer_list<std::string> fields) {
    ClassifierConfig config = small();
    return error_message([&] {
      io::set_fields(config, fields);
      Classifier model(config);
    });
  };
  EXPECT_EQ(complaint({"heads=3"}),
            "[config] flags: [block] embed 16 is not a multiple of heads 3: change one of them, or "
            "give head_size");
  EXPECT_EQ(complaint({"classes=0"}),
            "[classifier] a vocabulary of 11 and 0 classes: give both sizes");
  EXPECT_THAT(complaint({"attention=pointer"}),
              HasSubstr("[classifier] attention \"pointer\": a layer needs a mechanism that maps"));
  EXPECT_THAT(complaint({"attention=average", "heads=4", "positions=t5"}),
              HasSubstr("takes no position code"));
  EXPECT_THAT(complaint({"layers=0"}), HasSubstr("layers is 0"));
  ClassifierConfig config = small();
  config.encoder.block.heads = 0;
  EXPECT_THAT(error_message([&] { Classifier model(config); }), HasSubstr("heads 0"));
  config = small();
  config.encoder.layers = 0;
  EXPECT_EQ(error_message([&] { Classifier model(config); }),
            "[classifier] 0 layers: at least one is needed");
}

}  // namespace
}  // namespace heed::classifier_test
