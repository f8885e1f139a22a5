// Decoding of Transformers that copy: sequences that join others, and the weights of one head.
#include "heed/models/copy_decoding.h"

#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/models/transformer.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::copy_decoding_test {
namespace {

TEST(CopyDecoding, WeightsAreThoseOfAHeadOrTheMean) {
  const Tensor cross = from_values<float>({0.25f, 0.75f, 0.5f, 0.5f}, {1, 2, 1, 2});
  EXPECT_EQ(copy_weights(cross, 2).to_vector<float>(), (std::vector<float>{0.5f, 0.5f}));
  EXPECT_EQ(copy_weights(cross, {}).to_vector<float>(), (std::vector<float>{0.375f, 0.625f}));
}

TEST(CopyDecoding, SequencesJoinThoseInProgress) {
  Generator generator(5);
  Transformer model({.source_vocabulary = test::kVocabulary,
                     .target_vocabulary = test::kVocabulary,
                     .encoder_layers = 1,
                     .decoder_layers = 2,
                     .block = BlockConfig{.embed = 16, .heads = 2, .hidden = 20},
                     .copy = true},
                    generator);
  model.eval();
  const NoGrad no_grad;
  const Tensor first = test::random_ids(1, 4, 1), second = test::random_ids(1, 9, 2);
  const Tensor target = test::random_ids(2, 5, 3);
  const auto rows = [&](std::int64_t b) { return slice(target, 0, b, b + 1); };
  const Memory memories[] = {model.encode(first), model.encode(second)};
  CopySteps whole[2];
  for (int b = 0; b < 2; ++b) model.decode_copying(rows(b), memories[b], whole[b]);

  const std::unique_ptr<Decoding> decoding = model.start(memories[0]);
  decoding->step(slice(rows(0), 1, 0, 2));
  decoding->join(*model.start(memories[1]));
  for (std::int64_t t = 0; t < 3; ++t) {  // the second sequence is two tokens younger
    decoding->step(concat({slice(rows(0), 1, t + 2, t + 3), slice(rows(1), 1, t, t + 1)}, 0));
    const CopySteps* const copied = copied_by(*decoding);
    ASSERT_NE(copied, nullptr);
    for (int b = 0; b < 2; ++b) {
      const std::int64_t at = b == 0 ? t + 2 : t, S = whole[b].weights.size(2);
      const Tensor gate = slice(copied->gate, 0, b, b + 1);
      const Tensor weights = slice(slice(copied->weights, 0, b, b + 1), 2, 0, S);
      EXPECT_LE(test::max_relative_error(gate, slice(whole[b].gate, 1, at, at + 1)), 2e-5);
      EXPECT_LE(test::max_relative_error(weights, slice(whole[b].weights, 1, at, at + 1)), 2e-5);
    }
  }
}

TEST(CopyDecoding, ModelsThatDoNotCopyHaveNoSteps) {
  const Transformer model({.source_vocabulary = 5,
                           .target_vocabulary = 5,
                           .encoder_layers = 1,
                           .decoder_layers = 1,
                           .block = BlockConfig{.embed = 8, .heads = 2, .hidden = 8}});
  EXPECT_EQ(copying_of(model), nullptr);
  EXPECT_EQ(copied_by(*model.start(model.encode(zeros({1, 2}, DType::i64)))), nullptr);
}

}  // namespace
}  // namespace heed::copy_decoding_test
