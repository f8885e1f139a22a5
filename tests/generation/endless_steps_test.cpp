// Steps of a language model after a prompt are those of the whole pass, whichever row they are in.
#include "heed/generation/endless_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/decoding_steps.h"
#include "tests/generation/tiny_text_model.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::tiny_generator;
using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

TEST(EndlessSteps, AfterAPromptAreTheWholePass) {
  const TextGenerator generator = tiny_generator();
  const std::vector<std::int32_t> text = generator.tokenizer->encode("bad cabbage");
  const NoGrad no_grad;
  const Tensor whole =
      generator.model->output_layer()((*generator.model)(ids_of(text, 1)));  // [1, T, V]
  for (const std::size_t first : {1u, 2u, 6u}) {
    SCOPED_TRACE(first);
    EndlessSteps steps(*generator.model, 2, std::span(text).first(first), Position::kAnyLength);
    EXPECT_EQ(steps.rows(), 2);
    EXPECT_EQ(steps.vocabulary(), generator.tokenizer->size());
    for (std::size_t t = first - 1; t < text.size(); ++t) {
      const Tensor y = steps.step(std::vector<std::int32_t>{text[t], text[t]}).all();  // [2, V]
      const auto at = static_cast<std::int64_t>(t);
      const Tensor expected = clone_data(view::select(view::select(whole, 0, 0), 0, at));
      for (const std::int64_t row : {0, 1}) {
        EXPECT_LE(test::max_relative_error(test::row_of(y, row), expected), 2e-5) << "token " << t;
      }
    }
  }
}

TEST(EndlessSteps, APromptLeavesNothingOnTheTape) {
  const TextGenerator generator = tiny_generator();
  const std::vector<std::int32_t> prompt = generator.tokenizer->encode("bad");
  EndlessSteps steps(*generator.model, 1, prompt, Position::kAnyLength);
  EXPECT_FALSE(steps.step(std::vector<std::int32_t>{prompt.back()}).all().tracks_grad());
}

TEST(EndlessSteps, FollowTheirRows) {
  const TextGenerator generator = tiny_generator();
  const Tokens prompt = generator.tokenizer->encode("abc");
  const NoGrad no_grad;
  EndlessSteps both(*generator.model, 2, prompt, 6);
  EndlessSteps one(*generator.model, 1, prompt, 6);
  both.step(Tokens{5, 6});
  one.step(Tokens{6});
  both.reorder(std::vector<std::int64_t>{1});
  for (std::int32_t token = 4; token < 13; ++token) {
    const Tensor a = both.step(Tokens{token}).all(), b = one.step(Tokens{token}).all();  // [1, V]
    EXPECT_LE(test::max_relative_error(a, b), 2e-5) << token;
  }
}

TEST(EndlessSteps, ContinueToALongerPrompt) {
  const TextGenerator generator = tiny_generator();
  const Tokens text = generator.tokenizer->encode("bad cabbage");
  const NoGrad no_grad;
  EndlessSteps steps(*generator.model, 1, std::span(text).first(3), 12);
  steps.step(Tokens{text[2]});
  EXPECT_FALSE(steps.continue_to(std::span(text).first(3))) << "its last token was read";
  EXPECT_FALSE(steps.continue_to(Tokens{text[0], text[2], text[1], text[1]}));
  for (const std::size_t length : {4u, 9u, 9u, 10u}) {
    SCOPED_TRACE(length);
    ASSERT_TRUE(steps.continue_to(std::span(text).first(length)));
  }
  EndlessSteps fresh(*generator.model, 1, std::span(text).first(10), 12);
  const Tokens last = {text[9]};
  EXPECT_LE(test::max_relative_error(steps.step(last).all(), fresh.step(last).all()), 2e-5);
  Tokens longer = text;
  longer.insert(longer.end(), text.begin(), text.end());
  EXPECT_FALSE(steps.continue_to(longer)) << "more than the context";
  EndlessSteps two(*generator.model, 2, std::span(text).first(3), 12);
  EXPECT_FALSE(two.continue_to(text));
}

TEST(EndlessSteps, DoNotContinueWhatTheyHaveForgotten) {
  const TextGenerator generator = tiny_generator();
  const NoGrad no_grad;
  const Tokens text(12, 5);
  EndlessSteps steps(*generator.model, 1, Tokens{5}, 6);
  for (int i = 0; i < 7; ++i) steps.step(Tokens{5});
  EXPECT_FALSE(steps.continue_to(std::span(text).first(6)));
}

TEST(EndlessSteps, NameMistakes) {
  const TextGenerator generator = tiny_generator();
  EXPECT_THAT(error_message([&] { EndlessSteps(*generator.model, 1, {}, 9); }),
              HasSubstr("the prompt has no tokens"));
  EXPECT_THAT(error_message([&] { EndlessSteps(*generator.model, 1, Tokens{4}, 1); }),
              HasSubstr("a context of 1 tokens"));
}

}  // namespace
}  // namespace heed
