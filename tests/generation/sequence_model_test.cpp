// Models of both tasks as a scheduler starts them.
#include "heed/generation/sequence_model.h"

#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "tests/generation/tiny_text_model.h"

namespace heed::sequence_model_test {
namespace {

using Source = SequenceModel::Source;

TEST(SequenceModel, SourcesStartTogether) {
  const Translator translator = test::tiny_translator(test::letters(), test::letters());
  const auto model = sequences_of(translator.model(), {.observed = ObservedWeights::all});
  const std::vector<std::int32_t> a = translator.read("abc"), b = translator.read("a");
  const StartedSequences started = model->start(std::vector<Source>{a, b});
  EXPECT_TRUE(model->starts_together());
  EXPECT_TRUE(started.decoding->can_join());
  ASSERT_EQ(started.encoder.size(), 2u);
  EXPECT_EQ(started.encoder[1].at(0).self.shape(), (Shape{1, 2, 2, 2}));
  const Tensor ids = zeros({2, 1}, DType::i64);
  EXPECT_EQ(started.decoding->step(ids).size(0), 2);
  EXPECT_GT(model->cache_bytes(0, 1), 0);
  EXPECT_GT(model->cache_bytes(1, 0), 0);
}

TEST(SequenceModel, ALanguageModelStartsFromNothing) {
  const TextGenerator generator = test::tiny_generator();
  const auto model = sequences_of(*generator.model);
  EXPECT_FALSE(model->starts_together());
  EXPECT_EQ(model->max_positions(), 16);
  EXPECT_GE(model->cache_bytes(0, 16), 16 * 2 * 2 * 16 * 4) << "keys and values of two layers";
  const StartedSequences started = model->start(std::vector<Source>(1));
  EXPECT_EQ(started.decoding->step(zeros({1, 3}, DType::i64)).shape(), (Shape{1, 3, 16}));
}

}  // namespace
}  // namespace heed::sequence_model_test
