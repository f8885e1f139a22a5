// Masked tokens: the most probable ones at each masked position, whatever the batch.
#include "heed/generation/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/decoding_steps.h"
#include "heed/ops/softmax.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/support/error_message.h"

namespace heed::fill_test {
namespace {

using test::tiny_filler;
using testing::HasSubstr;

// The mask of the tiny model is "h".
TEST(Fill, GivesTheSoftmaxOfTheModelsScores) {
  const NoGrad no_grad;
  const TextFiller filler = tiny_filler();
  const std::vector<std::string> texts = {"bahd"};
  const FilledText found = fill_texts(filler, texts, {.top_k = 3})[0];
  ASSERT_EQ(found.masks.size(), 1U);
  ASSERT_EQ(found.masks[0].size(), 3U);
  const ReadText read = read_masked(filler, "bahd", 100);
  const Tensor states = (*filler.model)({ids_of(read.ids, 1)});
  const std::vector<float> p = softmax(filler.model->output_layer()(states)).to_vector<float>();
  const auto V = static_cast<std::size_t>(filler.model->vocabulary());
  float last = 1.0f;
  for (const Filling& filling : found.masks[0]) {
    EXPECT_NEAR(filling.probability, p[3 * V + static_cast<std::size_t>(filling.id)], 1e-6)
        << "position 3: begin, b, a, h";
    EXPECT_LE(filling.probability, last);
    last = filling.probability;
  }
  float most = 0.0f;
  for (std::size_t id = 0; id < V; ++id) most = std::max(most, p[3 * V + id]);
  EXPECT_NEAR(found.masks[0][0].probability, most, 1e-6);
}

TEST(Fill, PutsTheBestTokensIntoTheText) {
  const TextFiller filler = tiny_filler();
  const std::vector<std::string> texts = {"bh dhh"};
  const FilledText found = fill_texts(filler, texts)[0];
  ASSERT_EQ(found.masks.size(), 3U);
  std::vector<std::int32_t> ids = filler.tokenizer->encode(texts[0]);
  std::size_t next = 0;
  for (std::int32_t& id : ids) {
    if (id == filler.mask) id = found.masks[next++][0].id;
  }
  EXPECT_EQ(found.text, filler.tokenizer->decode(ids));
}

TEST(Fill, KeepsTheOrderWhateverTheBatches) {
  const TextFiller filler = tiny_filler();
  const std::vector<std::string> texts = {"h", "a cab dead beeh", "bhhd", "hb"};
  const auto together = fill_texts(filler, texts);
  const auto apart = fill_texts(filler, texts, {.batch_tokens = 1});
  ASSERT_EQ(together.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(together[i].text, apart[i].text);
    ASSERT_EQ(together[i].masks.size(), apart[i].masks.size());
    for (std::size_t m = 0; m < together[i].masks.size(); ++m) {
      EXPECT_NEAR(together[i].masks[m][0].probability, apart[i].masks[m][0].probability, 1e-5);
    }
  }
  EXPECT_TRUE(fill_texts(filler, {}).empty());
}

TEST(Fill, ATextWithoutMaskSaysSo) {
  const TextFiller filler = tiny_filler();
  EXPECT_EQ(error_message([&] { read_masked(filler, "bad", 100, "standard input:3"); }),
            "[fill] standard input:3 has no h among its first 4 tokens: write one where a token is "
            "to be found");
  EXPECT_THAT(error_message([&] { read_masked(filler, "badh", 4); }),
              HasSubstr("the text has no h among its first 4 tokens"));
  EXPECT_THAT(
      error_message([&] { fill_texts(filler, std::vector<std::string>{"h"}, {.top_k = 0}); }),
      HasSubstr("top_k"));
}

}  // namespace
}  // namespace heed::fill_test
