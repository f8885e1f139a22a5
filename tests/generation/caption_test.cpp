// Captions: what a search finds, company, weights, folders.
#include "heed/generation/caption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/view.h"
#include "tests/generation/tiny_captioner.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::caption_test {
namespace {

using test::tiny_captioner;

Tensor pictures(std::int64_t count) {
  Generator generator(2);
  return normal({count, 1, 8, 8}, 0.0, 2.0, generator);
}

// The most probable token at each step, one picture at a time.
std::vector<std::int32_t> by_hand(const PictureCaptioner& captioner, const Tensor& picture,
                                  std::size_t most) {
  const NoGrad no_grad;
  const SpecialTokens special = captioner.tokenizer->special();
  const Memory memory = captioner.model->encode(picture);
  std::vector<std::int64_t> given = {special.begin};
  std::vector<std::int32_t> tokens;
  while (tokens.size() < most) {
    const Tensor ids = from_values(std::span<const std::int64_t>(given), {1, std::ssize(given)});
    const Tensor y = captioner.model->output_layer()(captioner.model->decode(ids, memory));
    const auto last = view::select(view::select(y, 0, 0), 0, std::ssize(given) - 1);
    std::vector<float> scores = last.to_vector<float>();
    for (const std::int32_t never : {special.begin, special.padding, special.unknown}) {
      scores[static_cast<std::size_t>(never)] = -1e9f;
    }
    const auto best = static_cast<std::int32_t>(std::ranges::max_element(scores) - scores.begin());
    if (best == special.end) break;
    tokens.push_back(best);
    given.push_back(best);
  }
  return tokens;
}

TEST(Caption, GreedySearchTakesTheMostProbableToken) {
  const PictureCaptioner captioner = tiny_captioner();
  const Tensor x = pictures(5);
  const auto found = caption(captioner, x, {.beam_size = 1, .max_length = 6});
  ASSERT_EQ(found.size(), 5u);
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto& one = found[static_cast<std::size_t>(i)];
    EXPECT_EQ(one.hypothesis.tokens, by_hand(captioner, view::slice(x, 0, i, i + 1), 6));
    EXPECT_EQ(one.text, captioner.tokenizer->decode(one.hypothesis.tokens));
  }
  EXPECT_TRUE(caption(captioner, pictures(0)).empty());
}

TEST(Caption, BeamsDoNotDependOnCompany) {
  const PictureCaptioner captioner = tiny_captioner("hard score=additive");
  const Tensor x = pictures(4);
  const SearchOptions search{.beam_size = 3, .max_length = 5};
  const auto together = caption(captioner, x, search);
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto alone = caption(captioner, view::slice(x, 0, i, i + 1), search);
    EXPECT_EQ(alone[0].hypothesis.tokens, together[static_cast<std::size_t>(i)].hypothesis.tokens);
  }
}

TEST(Caption, ASearchMayBeStopped) {
  int steps = 0;
  EXPECT_THROW(caption(tiny_captioner(), pictures(1), {},
                       [&] {
                         ++steps;
                         throw std::runtime_error("stop");
                       }),
               std::runtime_error);
  EXPECT_EQ(steps, 1);
}

TEST(Caption, WeightsHaveARowForEachWordAndTheEnd) {
  const PictureCaptioner captioner = tiny_captioner();
  const auto weights =
      caption_weights(captioner, pictures(1), captioner.tokenizer->encode("a dog runs"));
  ASSERT_EQ(weights.size(), 1u);
  ASSERT_EQ(weights[0].cross.shape(), (Shape{1, 1, 4, 4}));
  EXPECT_LE(test::max_relative_error(sum(weights[0].cross, {3}), ones({1, 1, 4})), 1e-5);
}

TEST(Caption, FoldersHoldTheCaptioner) {
  const TempDir dir;
  const PictureCaptioner captioner = tiny_captioner();
  save_model(captioner, dir.path());
  const PictureCaptioner loaded = load_picture_captioner(dir.path());
  EXPECT_EQ(loaded.scale.mean, captioner.scale.mean);
  EXPECT_EQ(caption(loaded, pictures(2))[1].text, caption(captioner, pictures(2))[1].text);
  EXPECT_TRUE(std::holds_alternative<PictureCaptioner>(load_model(dir.path(), PackedForm::f32)));
  EXPECT_THAT(error_message([&] { load_translator(dir.path()); }),
              testing::HasSubstr("for task \"caption\" (captioner), not for \"translate\""));
}

}  // namespace
}  // namespace heed::caption_test
