// The self-attentive classifier: its parts composed by hand, gradients, padding, the penalty, a
// task that it learns, and its config.
#include "heed/models/self_attentive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradcheck.h"
#include "heed/io/config.h"
#include "heed/models/kinds.h"
#include "heed/nn/checkpoint_file.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/order.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/training/optimizer.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::self_attentive_test {
namespace {

using test::lengths_of;
using test::random_ids;
using test::row_of;
using test::same_bits;
using testing::HasSubstr;

SelfAttentiveConfig small() {
  return {.vocabulary = test::kVocabulary,
          .classes = 3,
          .embed = 5,
          .hidden = 4,
          .hops = 2,
          .score_hidden = 3,
          .dense = 6};
}

TEST(SelfAttentive, IsItsParts) {
  for (const Cell cell : {Cell::lstm, Cell::gru}) {
    SelfAttentiveConfig config = small();
    config.cell = cell;
    SelfAttentive model(config);
    model.eval();
    const Tensor ids = random_ids(2, 7, 1);
    const Tensor states = (*model.encoder)(model.tokens(ids)).output;  // [B, T, 2 H]
    const auto [vectors, weights] = model.pooling.pool({.x = states});
    const Tensor right = model.scores((*model.dense)(reshape(vectors, {2, 16})));
    std::vector<LayerWeights> seen;
    EXPECT_LE(test::max_relative_error(model({ids}, &seen), right), 1e-6);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].cross.shape(), (Shape{2, 1, 2, 7}));
    EXPECT_FALSE(seen[0].self.defined());
    const Judged judged = model.judge({ids});
    EXPECT_LE(test::max_relative_error(judged.scores, right), 1e-6);
    EXPECT_LE(test::max_relative_error(judged.penalty, pooling_penalty(weights)), 1e-6);
  }
}

TEST(SelfAttentive, EveryParameterLearns) {
  SelfAttentive model(small());
  const Tensor ids = random_ids(3, 9, 1), lengths = lengths_of({9, 5, 7});
  test::expect_learns(model, cross_entropy(model({ids, lengths}), lengths_of({0, 2, 1})));

  model.zero_grad();
  model.to(DType::f64);
  const std::vector<Tensor> parameters = model.parameters();
  const GradCheckResult result = gradcheck(
      [&](std::span<const Tensor>) {
        const Judged judged = model.judge({ids, lengths});
        return sum(judged.scores) + sum(judged.penalty);
      },
      parameters);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(SelfAttentive, PaddingAndNeighboursDoNotMatter) {
  SelfAttentive model(small());
  model.eval();
  const Tensor ids = random_ids(3, 9, 2), lengths = lengths_of({9, 4, 0});
  const Tensor all = model({ids, lengths});
  EXPECT_TRUE(same_bits(model({test::with_other_tokens(ids, 1, 4), lengths}), all)) << "padding";
  const Tensor beside = model({test::with_other_tokens(ids, 0, 0), lengths});
  EXPECT_TRUE(same_bits(row_of(beside, 1), row_of(all, 1)));
  for (const float score : all.to_vector<float>()) EXPECT_TRUE(std::isfinite(score));
}

// The label is whether token 0 stands before token 1, which a bag of words cannot tell.
TEST(SelfAttentive, LearnsOrder) {
  SelfAttentiveConfig config = small();
  config.classes = 2;
  config.hidden = config.embed = 12;
  Generator generator(3);
  SelfAttentive model(config, generator);
  Adam optimizer(model.named_parameters(), {});
  constexpr std::int64_t kTexts = 32, kLength = 6;
  Tensor labels = empty({kTexts}, DType::i64);
  for (std::int64_t i = 0; i < kTexts; ++i) labels.mutable_data<std::int64_t>()[i] = i % 2;
  const auto texts = [](std::uint64_t stream) {
    Tensor ids = empty({kTexts, kLength}, DType::i64);
    const RandomStream random{9, stream};
    for (std::int64_t i = 0; i < ids.numel(); ++i) {
      ids.mutable_data<std::int64_t>()[i] = 3 + random.below(static_cast<std::uint64_t>(i), 8);
    }
    for (std::int64_t text = 0; text < kTexts; ++text) {
      std::int64_t* const row = ids.mutable_data<std::int64_t>() + text * kLength;
      row[text % 3] = text % 2;
      row[3 + text / 2 % 3] = 1 - text % 2;
    }
    return ids;
  };
  for (int update = 0; update < 150; ++update) {
    const Judged judged = model.judge({texts(static_cast<std::uint64_t>(update) + 1)});
    (cross_entropy(judged.scores, labels) + mean(judged.penalty) * 0.01).backward();
    optimizer.step({.rate = 0.02});
    optimizer.zero_grad();
  }
  EXPECT_TRUE(same_bits(argmax(model({texts(0)}), 1), labels)) << "texts that it has not seen";
}

TEST(SelfAttentive, IsSavedAndLoadedThroughTheList) {
  const TempDir dir;
  const SelfAttentive before(small());
  save_parameters(before, dir / "model.safetensors");
  const ModelKind* const kind = find_model_kind("self_attentive");
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->task, Task::classify);
  ModelChoice read(*kind);
  io::load_toml(io::to_toml(before.choice()), read);
  const std::unique_ptr<Model> made = read.make();
  load_parameters(*made, dir / "model.safetensors");
  const auto& after = dynamic_cast<const ClassificationModel&>(*made);
  const Tensor ids = random_ids(3, 9, 1);
  EXPECT_TRUE(same_bits(after({ids}), before({ids})));
}

TEST(SelfAttentive, WrongUseSaysWhatIsWrong) {
  SelfAttentiveConfig config = small();
  config.hops = 0;
  EXPECT_THAT(error_message([&] { SelfAttentive model(config); }),
              HasSubstr("hops 0, score_hidden 3: all must be at least 1"));
  config = small();
  config.dropout = 1.0;
  EXPECT_THAT(error_message([&] { SelfAttentive model(config); }),
              HasSubstr("dropout 1: it must be at least 0 and below 1"));
  config = small();
  config.classes = 0;
  EXPECT_THAT(error_message([&] { SelfAttentive model(config); }), HasSubstr("give both sizes"));
}

}  // namespace
}  // namespace heed::self_attentive_test
