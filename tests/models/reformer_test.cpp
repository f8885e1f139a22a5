// Reformer: any length, step by step, the rounds of evaluation, saving, and messages for wrong
// configs.
#include "heed/models/reformer.h"

#include <gtest/gtest.h>

#include <vector>

#include "heed/autograd/tape.h"
#include "heed/models/kinds.h"
#include "heed/ops/view.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::reformer_test {
namespace {

using test::max_relative_error;
using test::random_ids;

ReformerConfig small() {
  return {.vocabulary = test::kVocabulary,
          .layers = "lsh local lsh full",
          .block = ReformerBlock{
              .embed = 16,
              .heads = 2,
              .hidden = 24,
              .lsh = "lsh buckets=4 factor=2 chunk=4 rounds=2 evaluation_rounds=3 redraw=true "
                     "unique=true",
              .local = "block_sparse block=4 local=1 every=0",
              .positions = "axial max_length=40 rows=5 row_features=6",
              .feed_forward_rows = 5}};
}

Tensor loss_of(const Reformer& model, const Tensor& ids, const Tensor& expected) {
  return model.output.loss(model(ids), expected).loss;
}

TEST(Reformer, TakesLengthsThatNothingDivides) {
  Reformer model(small());
  for (const std::int64_t T : {1, 2, 7, 17, 40}) {
    const Tensor ids = random_ids(3, T, 1);
    const Tensor y = model(ids);
    EXPECT_EQ(y.shape(), (Shape{3, T, 32}));
    model.zero_grad();
    loss_of(model, ids, random_ids(3, T, 2)).backward();
    for (const NamedTensor& parameter : model.named_parameters()) {
      EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name << ", T " << T;
    }
  }
}

TEST(Reformer, TheFutureIsHidden) {
  Reformer model(small());
  model.eval();
  const NoGrad no_grad;
  const Tensor ids = random_ids(1, 30, 3);
  const Tensor whole = model(ids);
  for (const std::int64_t T : {1, 11, 29}) {
    EXPECT_LT(max_relative_error(model(slice(ids, 1, 0, T)), slice(whole, 1, 0, T)), 1e-4) << T;
  }
}

TEST(Reformer, DecodesStepByStep) {
  Reformer model(small());
  model.eval();
  const NoGrad no_grad;
  const Tensor ids = random_ids(2, 30, 4);
  const Tensor whole = model(ids);
  const auto decoding = model.start(2);
  for (std::int64_t t = 0, next = 5; t < 30; t = next, ++next) {
    EXPECT_LT(max_relative_error(decoding->step(slice(ids, 1, t, next)), slice(whole, 1, t, next)),
              1e-4)
        << t;
  }
}

TEST(Reformer, AGridThatIsFullSaysSo) {
  Reformer model(small());
  model.eval();
  const auto decoding = model.start(1);
  decoding->step(random_ids(1, 40, 5));
  const std::string message = error_message([&] { decoding->step(random_ids(1, 1, 5)); });
  EXPECT_NE(message.find("[axial]"), std::string::npos) << message;
}

// The same batches and the same generator: ways to treat activations differ by rounding only.
TEST(Reformer, LearnsTheSameWhateverIsKept) {
  const auto train = [](Activations activations) {
    ReformerConfig config = small();
    config.block.activations = activations;
    config.block.dropout = 0.1;
    config.block.attention_dropout = 0.1;
    Generator generator(1);
    Reformer model(config, generator);
    default_generator() = Generator(2);
    std::vector<double> losses;
    for (int i = 0; i < 5; ++i) {
      const Tensor loss = loss_of(model, random_ids(2, 33, 10), random_ids(2, 33, 11));
      losses.push_back(loss.item());
      model.zero_grad();
      loss.backward();
      for (const NamedTensor& parameter : model.named_parameters()) {
        Tensor data = parameter.tensor.detach();
        const Tensor gradient = parameter.tensor.grad();
        for (std::int64_t n = 0; n < data.numel(); ++n) {
          data.mutable_data<float>()[n] -= 0.5f * gradient.data<float>()[n];
        }
      }
    }
    return losses;
  };
  const std::vector<double> kept = train(Activations::kept);
  const std::vector<double> back = train(Activations::reversible);
  EXPECT_EQ(train(Activations::checkpointed), kept);
  EXPECT_EQ(train(Activations::reversible), back);
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_NEAR(back[i], kept[i], 1e-4 * kept[i]);
  EXPECT_LT(back.back(), back.front());
}

TEST(Reformer, IsAKindOfTheList) {
  const ModelKind* const kind = find_model_kind("reformer");
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->task, Task::language);
  const Reformer model(small());
  EXPECT_EQ(model.choice().kind().name, "reformer");
  EXPECT_EQ(model.max_length(), 40);
  EXPECT_EQ(model.choice().config().attentions().size(), 4u);
}

TEST(Reformer, WrongConfigsSayWhatIsWrong) {
  const auto complaint = [](auto change) {
    ReformerConfig config = small();
    change(config);
    return error_message([&] { Reformer model(config); });
  };
  EXPECT_EQ(complaint([](ReformerConfig& c) { c.layers = "lsh locla"; }),
            "[reformer] layers has the word \"locla\": did you mean \"local\"?");
  EXPECT_EQ(complaint([](ReformerConfig& c) { c.layers = " "; }),
            "[reformer] layers has 0 words: give one for each layer, such as \"lsh local\"");
  EXPECT_EQ(complaint([](ReformerConfig& c) { c.vocabulary = 0; }),
            "[reformer] a vocabulary of 0: give its size");
  EXPECT_EQ(complaint([](ReformerConfig& c) { c.block.embed = 15; }),
            "[block] embed 15 is not a multiple of heads 2: change one of them, or give head_size");
  EXPECT_EQ(complaint([](ReformerConfig& c) { c.block.positions = "axial row_features=16"; }),
            "[axial] row_features 16: they must be fewer than embed 16");
}

}  // namespace
}  // namespace heed::reformer_test
