// The linear classifier: scores by hand, gradients, padding, a task that it learns, and its config.
#include "heed/models/bag_of_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/gradcheck.h"
#include "heed/io/config.h"
#include "heed/models/kinds.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/order.h"
#include "heed/training/optimizer.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::bag_of_words_test {
namespace {

using test::lengths_of;
using test::random_ids;
using test::row_of;
using test::same_bits;
using testing::ElementsAre;
using testing::HasSubstr;

BagOfWordsConfig small() { return {.vocabulary = test::kVocabulary, .classes = 3, .embed = 5}; }

TEST(BagOfWords, IsALinearMapOfTheMean) {
  const BagOfWords model(small());
  const Tensor ids = from_values<std::int64_t>({4, 7, 7, 0}, {1, 4});
  const auto embedding = [&](std::int64_t token) {
    return clone_data(view::slice(model.tokens.weight.data.detach(), 0, token, token + 1));
  };
  const Tensor mean_of_three = (embedding(4) + embedding(7) * 2.0) * (1.0 / 3.0);  // [1, E]
  EXPECT_LE(test::max_relative_error(model({ids, lengths_of({3})}), model.scores(mean_of_three)),
            1e-6);
}

TEST(BagOfWords, EveryParameterLearns) {
  BagOfWords model(small());
  std::vector<std::string> names;
  for (const NamedTensor& parameter : model.named_parameters()) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("tokens.weight", "scores.weight", "scores.bias"));
  const Tensor ids = random_ids(3, 9, 1), lengths = lengths_of({9, 5, 7});
  test::expect_learns(model, cross_entropy(model({ids, lengths}), lengths_of({0, 2, 1})));

  model.zero_grad();
  model.to(DType::f64);
  const std::vector<Tensor> parameters = model.parameters();
  const GradCheckResult result = gradcheck(
      [&](std::span<const Tensor>) {
        return model({ids, lengths});
      },
      parameters);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(BagOfWords, PaddingAndNeighboursDoNotMatter) {
  BagOfWords model(small());
  model.eval();
  const Tensor ids = random_ids(3, 9, 1), lengths = lengths_of({9, 5, 0});
  const Tensor y = model({ids, lengths});
  EXPECT_TRUE(same_bits(model({test::with_other_tokens(ids, 1, 5), lengths}), y)) << "padding";
  const Tensor beside = model({test::with_other_tokens(ids, 0, 0), lengths});
  EXPECT_TRUE(same_bits(row_of(beside, 1), row_of(y, 1)));
  EXPECT_FALSE(same_bits(row_of(beside, 0), row_of(y, 0)));
  EXPECT_TRUE(same_bits(row_of(y, 2), model.scores.bias)) << "a text without tokens";
}

TEST(BagOfWords, OrderDoesNotMatter) {
  const BagOfWords model(small());
  const Tensor a = from_values<std::int64_t>({1, 2, 3, 4}, {1, 4});
  const Tensor b = from_values<std::int64_t>({4, 2, 1, 3}, {1, 4});
  EXPECT_LE(test::max_relative_error(model({a}), model({b})), 1e-6);
}

TEST(BagOfWords, DropsOnlyWhileTraining) {
  BagOfWordsConfig config = small();
  config.dropout = 0.5;
  BagOfWords model(config);
  const Tensor ids = random_ids(4, 9, 1);
  EXPECT_FALSE(same_bits(model({ids}), model({ids})));
  model.eval();
  EXPECT_TRUE(same_bits(model({ids}), model({ids})));
}

// The label of a text is which of the tokens 0, 1 and 2 it contains.
TEST(BagOfWords, LearnsWhichWordATextHas) {
  Generator generator(5);
  BagOfWords model(small(), generator);
  Adam optimizer(model.named_parameters(), {});
  constexpr std::int64_t kTexts = 48, kLength = 6;
  const auto texts = [](std::uint64_t stream) {
    Tensor ids = empty({kTexts, kLength}, DType::i64);
    const RandomStream random{9, stream};
    for (std::int64_t i = 0; i < ids.numel(); ++i) {
      const std::int64_t other = 3 + random.below(static_cast<std::uint64_t>(i), 8);
      const std::int64_t text = i / kLength;
      ids.mutable_data<std::int64_t>()[i] = i % kLength == text % kLength ? text % 3 : other;
    }
    return ids;
  };
  Tensor labels = empty({kTexts}, DType::i64);
  for (std::int64_t i = 0; i < kTexts; ++i) labels.mutable_data<std::int64_t>()[i] = i % 3;
  const double before = cross_entropy(model({texts(0)}), labels).item();
  for (int update = 0; update < 200; ++update) {
    cross_entropy(model({texts(static_cast<std::uint64_t>(update) + 1)}), labels).backward();
    optimizer.step({.rate = 0.05});
    optimizer.zero_grad();
  }
  EXPECT_LT(cross_entropy(model({texts(0)}), labels).item(), before / 10.0);
  EXPECT_TRUE(same_bits(argmax(model({texts(0)}), 1), labels)) << "texts that it has not seen";
}

TEST(BagOfWords, IsSavedAndLoadedThroughTheList) {
  const TempDir dir;
  const BagOfWords before(small());
  const ModelChoice choice = before.choice();
  EXPECT_EQ(choice.kind().name, "bag_of_words");
  save_parameters(before, dir / "model.safetensors");
  const std::string text = io::to_toml(choice);

  const ModelKind* const kind = find_model_kind("bag_of_words");
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->task, Task::classify);
  ModelChoice read(*kind);
  io::load_toml(text, read);
  const std::unique_ptr<Model> made = read.make();
  load_parameters(*made, dir / "model.safetensors");
  const auto& after = dynamic_cast<const ClassificationModel&>(*made);
  EXPECT_EQ(after.vocabulary(), test::kVocabulary);
  EXPECT_EQ(after.classes(), 3);
  const Tensor ids = random_ids(3, 9, 1);
  EXPECT_TRUE(same_bits(after({ids}), before({ids})));
}

TEST(BagOfWords, HasNoWeightsToShow) {
  const BagOfWords model(small());
  std::vector<LayerWeights> weights(2);
  model({random_ids(3, 9, 1)}, &weights);
  EXPECT_TRUE(weights.empty());
  EXPECT_TRUE(small().attentions().empty());
}

TEST(BagOfWords, WrongConfigsSayWhatIsWrong) {
  const auto complaint = [](std::initializer_list<std::string> fields) {
    BagOfWordsConfig config = small();
    return error_message([&] {
      io::set_fields(config, fields);
      BagOfWords model(config);
    });
  };
  EXPECT_EQ(complaint({"classes=0"}),
            "[bag_of_words] a vocabulary of 11 and 0 classes: give both sizes");
  EXPECT_THAT(complaint({"embed=0"}), HasSubstr("embed is 0"));
  EXPECT_THAT(complaint({"dropout=1"}), HasSubstr("dropout 1: it must be at least 0 and below 1"));
}

}  // namespace
}  // namespace heed::bag_of_words_test
